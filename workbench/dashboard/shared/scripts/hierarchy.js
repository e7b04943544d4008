// Of each level of a network what its rows draw. A level of few rows is written out; of many, such as authors,
// there is a list that is searched here, in the browser, and a row of it is opened by a click.
const FEW = 12, SHOWN = 50

export function render({ model }) {
  const said = element("p", { className: "hint" }), levels = element("div", { className: "levels" })
  const root = element("div", { className: "wb-hierarchy" }, said, levels)
  const seen = new Map()   // name of a level → what was searched for in it, and which row is open
  const topicOf = (number) => model.topics[String(number)]
  const called = (number) => [`topic ${number}`, topicOf(number)?.node, topicOf(number)?.label].filter(Boolean).join(", ")

  // ------------------------------------------------------------- rows of a level

  function chip(number, text) {
    const onclick = (event) => { event.stopPropagation(); choose(model, number) }
    const made = element("button", { type: "button", className: "topic", label: `choose ${called(number)}`, onclick }, text)
    made.style.setProperty("--topic", topicOf(number)?.colour || "var(--wb-muted)")
    made.dataset.topic = number
    return made
  }

  const words = (number) => [topicOf(number)?.label, topicOf(number)?.words].filter(Boolean).join(" · ")
  const tokens = (number) => number < 10 ? number.toFixed(1) : Math.round(number).toLocaleString("en")
  const node = (level, [value, number]) => number < 0 ? element("span", { className: "value", textContent: level.values[value] })
    : chip(number, topicOf(number)?.node || level.values[value])

  function values(level, [name, total, , own, rest, left]) {
    const largest = Math.max(...own.map(([, , n]) => n), 1e-12)
    const lines = own.map(([value, number, n]) => {
      const bar = track(n / largest)
      bar.style.setProperty("--topic", topicOf(number)?.colour || "var(--wb-strong-line)")
      return element("tr", {}, element("th", { scope: "row" }, node(level, [value, number])),
        element("td", { className: "size" }, bar, percent(n / Math.max(total, 1e-12))),
        element("td", { className: "some", textContent: number < 0 ? "" : words(number) }))
    })
    if (rest && left > 0) {
      lines.push(element("tr", { className: "rest" }, element("th", { textContent: `${rest} more`, scope: "row" }),
        element("td", { className: "size", textContent: percent(left / total) }), element("td")))
    }
    return element("table", { className: "values", label: `${level.draws} of ${name}` }, element("tbody", {}, ...lines))
  }

  function heading(level, [name, total, own]) {
    const share = element("small", {}, `${percent(total / Math.max(level.tokens, 1e-12))} of the tokens`)
    const some = own < 0 ? [] : [element("span", { className: "some" }, words(own))]
    return element("h4", {}, own < 0 ? name : chip(own, name), share, ...some)
  }

  function strip(level, [, total, , own]) {
    return element("span", { className: "strip", ariaHidden: "true" }, ...own.map(([value, number, n]) => {
      const share = n / Math.max(total, 1e-12), told = number < 0 ? "" : ": " + words(number)
      const part = element("span", { title: `${topicOf(number)?.node || level.values[value]}, ${percent(share)}${told}` })
      part.style.width = wide(share)
      if (number >= 0) {
        part.style.setProperty("--topic", topicOf(number)?.colour || "var(--wb-muted)")
        part.dataset.topic = number
        part.onclick = (event) => { event.stopPropagation(); choose(model, number) }
      }
      return part
    }))
  }

  function list(level, section) {
    const before = seen.get(level.name) || { text: "", open: null }, what = level.by.join(", ")
    seen.set(level.name, before)
    const field = element("input", { type: "search", value: before.text, placeholder: `find ${what}`,
      label: `find ${what} in level ${level.name}`, oninput: () => { before.text = field.value; fill() } })
    const count = element("span", { className: "hint", ariaLive: "polite" }), body = element("tbody")
    const table = element("table", { className: "rows", label: `rows of level ${level.name}, most tokens first` },
      element("thead", {}, element("tr", {}, ...[what, "Tokens", level.draws].map((title) => element("th", { textContent: title, scope: "col" })))), body)
    const names = level.rows.map(([name]) => name.toLowerCase())
    function fill() {
      const text = before.text.trim().toLowerCase()
      const found = level.rows.filter((row, at) => names[at].includes(text))
      const more = level.n_rows > level.rows.length ? `; the ${level.rows.length.toLocaleString("en")} with most tokens are here` : ""
      put(count, `${Math.min(found.length, SHOWN)} of ${(text ? found.length : level.n_rows).toLocaleString("en")}${text ? " found" : ""}${more}`)
      body.replaceChildren(...found.slice(0, SHOWN).flatMap((row) => {
        const open = before.open === row[0]
        const button = element("button", { type: "button", className: "name", ariaExpanded: open }, row[0]), onclick = () => {
          before.open = open ? null : row[0]
          fill()
          ;[...body.querySelectorAll("button.name")].find((one) => one.textContent === row[0])?.focus()
        }
        const line = element("tr", { className: open ? "open" : "", onclick }, element("th", { scope: "row" }, button),
          element("td", { className: "number" }, tokens(row[1])), element("td", {}, strip(level, row)))
        return open ? [line, element("tr", { className: "detail" }, element("td", { colSpan: 3 }, heading(level, row), values(level, row)))] : [line]
      }))
      mark()
    }
    section.append(element("div", { className: "tools" }, field, count), boxed(table, "rows"))
    fill()
  }

  function fill() {
    const active = root.getRootNode().activeElement?.type === "search" ? root.getRootNode().activeElement.getAttribute("aria-label") : null
    levels.replaceChildren(...model.levels.map((level) => {
      const from = level.by[0] === "document" ? "all documents" : level.by.join(", ")
      const section = element("section", {}, element("h3", {}, `${from} → ${level.draws}`, element("small", { textContent: `level ${level.name}: ${level.told}` })))
      if (level.rows.length > FEW) list(level, section)
      else section.append(element("div", { className: "nodes" }, ...level.rows.map((row) => element("div", { className: "node" },
        ...(level.rows.length > 1 ? [heading(level, row)] : []), values(level, row)))))
      return section
    }))
    if (active) [...levels.querySelectorAll("input")].find((one) => one.getAttribute("aria-label") === active)?.focus()
    mark()
  }

  function mark() {
    for (const one of levels.querySelectorAll("[data-topic]")) {
      const own = Number(one.dataset.topic) === model.chosen
      one.classList.toggle("chosen", own)
      if (one.tagName === "BUTTON") one.ariaPressed = own
    }
  }

  const tell = () => { put(said, model.said) }
  model.on("levels", fill); model.on("topics", fill); model.on("said", tell); model.on("chosen", mark)
  tell(); fill()
  return root
}
