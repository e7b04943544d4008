// The form. Its fields are made once; then what they hold, what menus say, which are seen and what is wrong change in place.
// What a field means is told at the pointer, and at the keyboard when the field is reached; Escape puts it away.
export function render({ model }) {
  const tip = element("div", { className: "tip", popover: "manual" })
  const root = element("div", { className: "fields" }), places = {}, made = {}, wrongs = {}

  const send = (name, value) => model.send_msg({ field: name, value })

  // Tells a text at the pointer over ``nodes``, and at the input that the keyboard reaches.
  function tellAt(place, input, nodes, text) {
    const hide = () => tip.hidePopover()
    const show = () => {
      put(tip, text)
      tip.showPopover()
      const field = place.getBoundingClientRect(), right = root.getBoundingClientRect().right + 14
      const beside = right + tip.offsetWidth < innerWidth
      const down = field.bottom + tip.offsetHeight + 6 < innerHeight ? field.bottom + 6 : field.top - tip.offsetHeight - 6
      tip.style.left = `${beside ? right : Math.max(8, Math.min(field.left, innerWidth - tip.offsetWidth - 8))}px`
      tip.style.top = `${beside ? Math.max(8, Math.min(field.top, innerHeight - tip.offsetHeight - 8)) : down}px`
    }
    for (const at of nodes) Object.assign(at, { onpointerenter: show, onpointerleave: hide })
    input.onkeyup = (event) => { if (event.key === "Tab") show() }
    input.onkeydown = (event) => { if (event.key === "Escape") hide() }
    input.onblur = hide
  }

  function explain(place, input, label, { name, meaning }) {
    const mark = element("span", { className: "mark", textContent: "?", ariaHidden: "true" })
    label.after(mark, element("span", { className: "told", id: `${name}-meaning`, textContent: meaning }))
    input.setAttribute("aria-describedby", `${name}-meaning`)
    tellAt(place, input, [label, mark], meaning)
  }

  function labelled(one, kind, properties) {
    const input = element(kind, { id: one.name, onchange: () => send(one.name, input.value), ...properties })
    const label = element("label", { htmlFor: one.name, textContent: one.label })
    const place = element("div", { className: one.wide ? "field wide" : "field" }, element("span", { className: "head" }, label), input)
    made[one.name] = { input, hold: (value) => { input.value = value } }
    if (one.meaning) explain(place, input, label, one)
    return place
  }

  const typed = (one, more) => labelled(one, "input", { placeholder: one.placeholder, autocomplete: "off", ...more })

  const MAKERS = {
    heading: (one) => element("p", { className: "group across" }),
    fold: (one) => element("div", { className: "across" },
      element("button", { type: "button", onclick: () => model.send_msg({ press: one.name }) })),
    text: (one) => typed(one, { type: "text" }),
    number: (one) => typed(one, { type: "number", step: one.step }),
    menu: (one) => labelled(one, "select"),
    // A line of text, or a menu in its place once there is something to choose from.
    column: (one) => {
      const place = typed(one, { type: "text" }), { input } = made[one.name], menu = element("select", { hidden: true })
      let last = ""
      for (const on of ["onkeyup", "onkeydown", "onblur", "onchange"]) menu[on] = on === "onchange" ? () => send(one.name, menu.value) : input[on]
      menu.setAttribute("aria-describedby", input.getAttribute("aria-describedby"))
      input.after(menu)
      const hold = (value) => { last = input.value = menu.value = value }
      const offer = (said) => {
        const [shown, other] = said.length ? [menu, input] : [input, menu]
        menu.replaceChildren(...said.map((text) => element("option", { value: text, textContent: text })))
        Object.assign(shown, { hidden: false, id: one.name })
        Object.assign(other, { hidden: true, id: "" })
        made[one.name].input = shown
        shown.dataset.said = String(said)
        hold(last)
      }
      made[one.name] = { input, hold, offer }
      return place
    },
    file: (one) => {
      const { box, input, hold } = fileField(one, () => send(one.name, ""))
      const label = element("label", { htmlFor: one.name, textContent: one.label })
      const place = element("div", { className: "field wide" }, element("span", { className: "head" }, label), box)
      made[one.name] = { input: box, hold }
      if (one.meaning) explain(place, input, label, one)
      return place
    },
    ticks: (one) => {
      const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value), onchange = () => send(one.name, chosen())
      const boxes = one.options.map((value) => element("input", { type: "checkbox", value, onchange }))
      const labels = boxes.map((box, at) => {
        const label = element("label", {}, box, element("span", { textContent: box.value }))
        box.setAttribute("aria-description", one.hints[at])
        tellAt(label, box, [label], one.hints[at])
        return label
      })
      const which = one.meaning ? [element("p", { className: "which", textContent: one.meaning })] : []
      const place = element("div", { className: "ticks across", label: one.label, role: "group" }, ...which, ...labels)
      made[one.name] = { input: place, hold: (value) => { for (const box of boxes) box.checked = value.includes(box.value) } }
      return place
    },
  }

  function fillMenus() {
    for (const [name, said] of Object.entries(model.menus)) {
      const { input } = made[name], held = input.value
      if (input.dataset.said === String(said)) continue
      input.dataset.said = String(said)
      if (made[name].offer) { made[name].offer(said); continue }
      input.replaceChildren(...said.map((text) => element("option", { value: text, textContent: text })))
      input.value = held
    }
  }

  function fill(values) {
    for (const [name, value] of Object.entries(values)) made[name].hold(value)
  }

  function show() {
    for (const [name, place] of Object.entries(places)) place.hidden = !model.seen.includes(name)
    for (const [name, text] of Object.entries(model.told)) put(places[name].firstElementChild || places[name], text)
    for (const { name, kind } of model.parts) {
      if (kind === "fold") places[name].firstElementChild.ariaExpanded = model.unfolded.includes(name)
    }
  }

  function tellWrong() {
    const wrong = Object.keys(made).filter((name) => name in model.wrong)
    for (const [name, { input }] of Object.entries(made)) {
      if (wrong.includes(name)) {
        wrongs[name] ??= element("p", { className: "bad", id: `${name}-wrong`, role: "status" })
        put(wrongs[name], model.wrong[name])
        if (places[name].nextElementSibling !== wrongs[name]) places[name].after(wrongs[name])
        set(input, { "aria-invalid": "true", "aria-errormessage": wrongs[name].id })
      } else if (wrongs[name]) {
        wrongs[name].remove()
        for (const attribute of ["aria-invalid", "aria-errormessage"]) input.removeAttribute(attribute)
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
