// A field for a file that goes to the server's disk, with its progress; one that is too large never leaves the browser.
export function render({ model }) {
  const one = model.settings
  const said = element("p", { className: "hint", role: "status" }), name = element("span"), bar = element("progress", { max: 1, label: "upload" })
  const input = element("input", { type: "file", id: "file", accept: one.accept, onchange: () => { begin(input.files[0]); input.value = "" } })
  const stop = element("button", { type: "button" }), there = element("div", { className: "there" }, name, bar, stop)
  const box = element("div", { className: one.open ? "drop" : "drop closed" })
  let request = null, { held } = model

  function show(sentence = "", kind = "hint") {
    put(said, sentence || (request || held ? "" : one.hint))
    said.className = kind
    there.hidden = !request && !held
    bar.hidden = !request
    input.hidden = !one.open || !there.hidden
    put(stop, request ? "Cancel" : "Remove")
    stop.ariaLabel = request ? "Cancel the upload" : "Remove the file"
    if (!request) put(name, held)
  }

  function begin(file) {
    if (!file || !one.open) return
    if (file.size > one.most) return show(`${file.name} has ${(file.size / 2 ** 20).toFixed(1)} MB where this server takes ${one.limit}; ${one.otherwise}.`, "bad")
    if (!file.size) return show(`${file.name} is empty; choose a file with data.`, "bad")
    if (request) request.abort()
    const mine = request = new XMLHttpRequest()
    const end = (sentence) => { if (request === mine) { request = null; show(sentence, sentence ? "bad" : "hint") } }
    mine.open("POST", one.route)
    mine.setRequestHeader("X-Upload-Token", one.token)
    mine.setRequestHeader("X-File-Name", encodeURIComponent(file.name.replace(/\p{Surrogate}/gu, "_")))
    mine.upload.onprogress = ({ loaded, total }) => {
      bar.value = loaded / total
      put(name, `${file.name}, ${Math.round(100 * loaded / total)} %`)
    }
    mine.onload = () => end(mine.status < 300 ? "" : mine.responseText || `The server refused ${file.name}.`)
    mine.onerror = () => end(`The upload of ${file.name} was interrupted; choose it again.`)
    mine.onabort = () => end("")
    put(name, file.name)
    bar.value = 0
    show()
    mine.send(file)
  }

  function remove() {
    held = ""
    model.send_msg({ clear: true })
    show()
  }

  stop.onclick = () => { if (request) request.abort(); else remove() }
  box.ondragover = (event) => { event.preventDefault(); box.classList.toggle("over", one.open) }
  box.ondragleave = () => box.classList.remove("over")
  box.ondrop = (event) => {
    event.preventDefault()
    box.classList.remove("over")
    begin(event.dataTransfer.files[0])
  }
  box.append(input, there, said)
  show()
  model.on("held", () => { ({ held } = model); show() })
  return element("div", {}, element("label", { htmlFor: "file", textContent: one.label }), box)
}
