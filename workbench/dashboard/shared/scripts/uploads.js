// Sends a file to the server; one that is too large never leaves the browser, since the server ends a connection that brings it.
export function render({ model }) {
  const input = element("input", { type: "file", accept: model.accept, label: model.label })
  const send = async (file) => model.send_msg({ name: file.name, content: await file.arrayBuffer() })
  input.onchange = () => {
    const [file] = input.files
    if (!file) return
    if (file.size <= model.most) send(file)
    else model.send_msg({ name: file.name, size: file.size })
  }
  return input
}
