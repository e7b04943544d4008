// The form. Its fields are made once; then what they hold, what menus say, which are seen and what is wrong change in place.
// What a field means is told at the pointer, and at the keyboard when the field is reached; Escape puts it away.
export function render({ model }) {
  const tip = element("div", { className: "tip", popover: "manual" })
  const root = element("div", { className: "fields" }), places = {}, made = {}, wrongs = {}

  const send = (name, value) => model.send_msg({ field: name, value })

  function explain(name, input, label, meaning) {
    const told = element("span", { className: "told", id: `${name}-meaning`, textContent: meaning })
    const mark = element("span", { className: "mark", textContent: "?" })
    mark.setAttribute("aria-hidden", "true")
    label.after(mark, told)
    input.setAttribute("aria-describedby", told.id)
    const show = () => {
      put(tip, meaning)
      tip.showPopover()
      const field = places[name].getBoundingClientRect(), right = root.getBoundingClientRect().right + 14
      const beside = right + tip.offsetWidth < innerWidth
      const down = field.bottom + tip.offsetHeight + 6 < innerHeight ? field.bottom + 6 : field.top - tip.offsetHeight - 6
      tip.style.left = `${beside ? right : Math.max(8, Math.min(field.left, innerWidth - tip.offsetWidth - 8))}px`
      tip.style.top = `${beside ? Math.max(8, Math.min(field.top, innerHeight - tip.offsetHeight - 8)) : down}px`
    }
    for (const at of [label, mark]) {
      at.addEventListener("pointerenter", show)
      at.addEventListener("pointerleave", () => tip.hidePopover())
    }
    input.addEventListener("keyup", (event) => { if (event.key === "Tab") show() })
    input.addEventListener("blur", () => tip.hidePopover())
    input.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidePopover() })
  }

  function labelled(one, input) {
    input.id = one.name
    const label = element("label", { htmlFor: one.name, textContent: one.label })
    const place = element("div", { className: one.wide ? "field wide" : "field" }, element("span", { className: "head" }, label), input)
    places[one.name] = place
    if (one.meaning) explain(one.name, input, label, one.meaning)
    return place
  }

  function typed(one, properties) {
    const input = element("input", { placeholder: one.placeholder, autocomplete: "off", ...properties })
    input.addEventListener("change", () => send(one.name, input.value))
    made[one.name] = { input, hold: (value) => { input.value = value } }
    return labelled(one, input)
  }

  const MAKERS = {
    heading: (one) => element("p", { className: "group across" }),
    fold: (one) => {
      const button = element("button", { type: "button" })
      button.addEventListener("click", () => model.send_msg({ press: one.name }))
      return element("div", { className: "across" }, button)
    },
    text: (one) => typed(one, { type: "text" }),
    values: (one) => typed(one, { type: "text", inputMode: "text" }),
    number: (one) => typed(one, { type: "number", step: one.step }),
    menu: (one) => {
      const input = element("select")
      input.addEventListener("change", () => send(one.name, input.value))
      made[one.name] = { input, hold: (value) => { input.value = value } }
      return labelled(one, input)
    },
    ticks: (one) => {
      const boxes = one.options.map((name) => element("input", { type: "checkbox", value: name }))
      const place = element("div", { className: "ticks across", label: one.label }, ...boxes.map((box) =>
        element("label", {}, box, element("span", { textContent: box.value }))))
      place.setAttribute("role", "group")
      const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value)
      for (const box of boxes) box.addEventListener("change", () => send(one.name, chosen()))
      made[one.name] = { input: place, hold: (value) => { for (const box of boxes) box.checked = value.includes(box.value) } }
      return place
    },
  }

  function fillMenus() {
    for (const [name, said] of Object.entries(model.menus)) {
      const { input } = made[name]
      if (input.dataset.said === String(said)) continue
      input.dataset.said = String(said)
      const held = input.value
      input.replaceChildren(...said.map((text) => element("option", { value: text, textContent: text })))
      input.value = held
    }
  }

  function fill(values) {
    for (const [name, value] of Object.entries(values)) made[name].hold(value)
  }

  function show() {
    for (const [name, place] of Object.entries(places)) {
      const hidden = !model.seen.includes(name)
      if (place.hidden !== hidden) place.hidden = hidden
    }
    for (const [name, text] of Object.entries(model.told)) put(places[name].firstElementChild || places[name], text)
    for (const { name, kind } of model.parts) {
      if (kind === "fold") places[name].firstElementChild.setAttribute("aria-expanded", model.unfolded.includes(name))
    }
  }

  function tellWrong() {
    const wrong = Object.keys(made).filter((name) => name in model.wrong)
    for (const [name, { input }] of Object.entries(made)) {
      if (wrong.includes(name)) {
        wrongs[name] ??= element("p", { className: "bad", id: `${name}-wrong`, role: "status" })
        put(wrongs[name], model.wrong[name])
        if (places[name].nextElementSibling !== wrongs[name]) places[name].after(wrongs[name])
        input.setAttribute("aria-invalid", "true"); input.setAttribute("aria-errormessage", wrongs[name].id)
      } else if (wrongs[name]) {
        wrongs[name].remove()
        input.removeAttribute("aria-invalid"); input.removeAttribute("aria-errormessage")
      }
    }
    for (const node of wrong.length ? [wrongs[wrong[0]], places[wrong[0]]] : []) node.scrollIntoView({ block: "nearest" })
  }

  for (const one of model.parts) root.append(places[one.name] = MAKERS[one.kind](one))
  fillMenus(); fill(model.values); show(); tellWrong()
  model.on("menus", fillMenus)
  model.on("news", () => fill(model.news.values))
  for (const name of ["seen", "told", "unfolded"]) model.on(name, show)
  model.on("wrong", tellWrong)
  return element("div", {}, root, tip)
}
