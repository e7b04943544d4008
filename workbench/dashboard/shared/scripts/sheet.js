// A table of numbers that is sorted in the browser: a click on a heading, or Enter on it.
export function render({ model }) {
  const head = element("tr"), body = element("tbody"), foot = element("tfoot"), said = element("p", { className: "hint" })
  const table = element("table", {}, element("thead", {}, head), body, foot)
  const root = element("div", { className: "wb-sheet" }, boxed(table, "topics"), said)
  head.append(...model.columns.map(([title, hint], at) => {
    const button = element("button", { type: "button", textContent: title, title: hint }), words = at > 0 && model.texts.includes(at)
    button.addEventListener("click", () => {
      const down = model.sort === title || model.sort === `-${title}` ? model.sort === title : at > 0 && !words
      model.sort = down ? `-${title}` : title
    })
    return element("th", { scope: "col", className: words ? "words" : "" }, button)
  }))

  function sorted(rows) {
    const down = model.sort.startsWith("-"), by = model.columns.findIndex(([title]) => title === model.sort.replace("-", ""))
    model.columns.forEach((column, at) => set(head.children[at], { "aria-sort": by === at ? (down ? "descending" : "ascending") : "none" }))
    return by < 0 ? rows : [...rows].sort((a, b) => {
      const [x, y] = [a.values[by], b.values[by]]
      if (x === null || y === null) return (x === null) - (y === null)   // what has no number comes last
      return (typeof x === "string" ? x.localeCompare(y) : x - y) * (down ? -1 : 1)
    })
  }

  function show() {
    const { rows = [], foot: last = [], caption = "" } = model.content
    put(said, model.said)
    table.hidden = !rows.length; table.setAttribute("aria-label", caption)
    body.replaceChildren(...sorted(rows).map((one) => {
      const row = element("tr", {}, ...one.told.map((text, at) => {
        const cell = element(at ? "td" : "th", { className: model.texts.includes(at) ? "words" : "" })
        if (at) cell.textContent = text
        else {
          const button = element("button", { type: "button", textContent: text, className: "topic" })
          button.setAttribute("aria-pressed", String(one.key === model.chosen)); cell.scope = "row"; cell.append(button)
        }
        return cell
      }))
      row.dataset.key = one.key; row.classList.toggle("chosen", one.key === model.chosen)
      if (one.colour) row.style.setProperty("--topic", one.colour)
      row.addEventListener("click", () => { model.chosen = one.key === model.chosen ? -1 : one.key })
      return row
    }))
    foot.replaceChildren(...(last.length ? [element("tr", {}, ...last.map((text, at) => element(at ? "td" : "th", { textContent: text })))] : []))
  }

  function mark() {
    for (const row of body.children) {
      const own = Number(row.dataset.key) === model.chosen
      row.classList.toggle("chosen", own); row.querySelector("button").setAttribute("aria-pressed", String(own))
    }
  }

  model.on("content", show); model.on("sort", show); model.on("said", () => put(said, model.said)); model.on("chosen", () => { mark(); reveal(body.querySelector(".chosen")) })
  show()
  return root
}
