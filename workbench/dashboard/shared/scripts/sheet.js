// A table of numbers that is sorted in the browser: a click on a heading, or Enter on it.
export function render({ model }) {
  const head = element("tr"), body = element("tbody"), foot = element("tfoot"), said = element("p", { className: "hint" })
  const table = element("table", {}, element("thead", {}, head), body, foot)
  const root = element("div", { className: "wb-sheet" }, boxed(table, "topics"), said)
  head.append(...model.columns.map(([title, hint], at) => {
    const words = at > 0 && model.texts.includes(at), onclick = () => {
      const down = model.sort === title || model.sort === `-${title}` ? model.sort === title : at > 0 && !words
      model.sort = down ? `-${title}` : title
    }
    const button = element("button", { type: "button", textContent: title, title: hint, onclick })
    return element("th", { scope: "col", className: words ? "words" : "" }, button)
  }))

  function in_order(rows) {
    const down = model.sort.startsWith("-"), by = model.columns.findIndex(([title]) => title === model.sort.replace("-", ""))
    const order = (at) => by !== at ? "none" : down ? "descending" : "ascending"
    for (const [at, cell] of [...head.children].entries()) cell.ariaSort = order(at)
    return by < 0 ? rows : sorted(rows, (row) => row.values[by], down)
  }

  function show() {
    const { rows = [], foot: last = [], caption = "" } = model.content
    put(said, model.said)
    table.hidden = !rows.length; table.setAttribute("aria-label", caption)
    body.replaceChildren(...in_order(rows).map((one) => {
      const [first, ...others] = one.told, button = element("button", { type: "button", className: "topic" }, first)
      const row = element("tr", { onclick: () => choose(model, one.key) }, element("th", { scope: "row" }, button),
        ...others.map((text, at) => element("td", { className: model.texts.includes(at + 1) ? "words" : "" }, text)))
      row.dataset.key = one.key
      if (one.colour) row.style.setProperty("--topic", one.colour)
      return row
    }))
    const cells = last.map((text, at) => element(at ? "td" : "th", {}, text))
    foot.replaceChildren(...(last.length ? [element("tr", {}, ...cells)] : []))
    mark()
  }

  function mark() {
    for (const row of body.children) {
      const own = Number(row.dataset.key) === model.chosen
      row.classList.toggle("chosen", own); row.querySelector("button").ariaPressed = own
    }
  }

  model.on("content", show); model.on("sort", show); model.on("said", () => put(said, model.said)); model.on("chosen", () => { mark(); reveal(body.querySelector(".chosen")) })
  show()
  return root
}
