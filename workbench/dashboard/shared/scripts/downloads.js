// Saves the file that the server sends, and reports that it has arrived, so that the server frees it.
export function render({ model }) {
  model.on("file", () => {
    const { name, content } = model.file
    if (!name) return
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([content]))
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60000)
    model.send_msg("arrived")
  })
  return document.createElement("span")
}
