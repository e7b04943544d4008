// What people write of the runs that are chosen. A note is sent when its field is left or at Ctrl-Enter, a tag at Enter;
// what is being typed is never overwritten, and belongs to the runs that it was begun for.
export function render({ model }) {
  const note = element("textarea", { label: "Note", rows: 2, placeholder: "What is to be remembered of this run" })
  const chips = element("span", { className: "chips" })
  const onkeydown = (event) => { if (event.key === "Enter") addTag() }
  const tag = element("input", { type: "text", label: "New tag", placeholder: "new tag, Enter", maxLength: 40, onkeydown })
  const add = element("button", { type: "button", textContent: "Add tag", onclick: addTag })
  const hint = element("p", { className: "hint" }), said = element("p", { className: "said", role: "status" })
  const fields = element("div", { className: "fields" }, note, element("div", { className: "tags" }, chips, tag, add))
  const root = element("div", { className: "wb-notes" }, hint, fields, said)
  let runs = [], shown = ""

  function save() {
    if (note.value === shown || runs.length !== 1) return
    shown = note.value
    model.send_msg({ runs, note: note.value })
  }

  function addTag() {
    const text = tag.value.trim()
    if (!text) return tag.focus()
    model.send_msg({ runs, tag: text })
    tag.value = ""
  }

  function show() {
    const { names = [], notes = "", tags = [] } = model.written
    const others = String(names) !== String(runs)
    if (others) { save(); runs = names }
    if (others || note.value === shown) {
      if (note.value !== notes) note.value = notes
      shown = notes
    }
    put(hint, names.length === 0 ? "Choose runs in the table to write a note or give them tags."
      : names.length === 1 ? names[0] : `${names.length} runs; a tag goes to all of them, a note to one run alone.`)
    fields.hidden = !names.length; note.hidden = names.length !== 1
    if (chips.dataset.tags !== String([names, tags])) {
      chips.dataset.tags = String([names, tags])
      chips.replaceChildren(...tags.map((text) => {
        const onclick = () => { model.send_msg({ runs, untag: text }); tag.focus() }
        const away = element("button", { type: "button", className: "away", label: `remove the tag ${text}`, onclick }, "×")
        return element("span", { className: "chip" }, text, away)
      }))
    }
    put(said, model.said); said.classList.toggle("bad", model.wrong)
  }

  note.onblur = save
  note.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save()
    if (event.key === "Escape") { note.value = shown; note.blur() }
  }
  for (const name of ["written", "said", "wrong"]) model.on(name, show)
  show()
  return root
}
