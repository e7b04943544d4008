// A table of documents, sorted and turned page by page in Python; of the one that is chosen its words, coloured by topic, and its
// topics as bars. Without columns it is a list of titles, shares and tokens.
export function render({ model }) {
  const body = element("tbody"), said = element("p", { className: "hint" })
  const head = element("tr"), table = element("table", { className: "rows" }, element("thead", {}, head), body)
  const order = element("select", { label: "Sort by", onchange: () => sort_by(order.value) }), way = element("button", { type: "button", className: "way",
    onclick: () => { model.sort = model.sort.startsWith("-") ? by() : `-${by()}` } })
  const where = element("span", { className: "where" }), turn = (text, step) => element("button",
    { type: "button", className: "turn", textContent: text, onclick: () => { model.page = model.content.page + step } })
  const back = turn("‹ Previous", -1), on = turn("Next ›", 1)
  const tools = element("div", { className: "tools" }, element("label", {}, element("span", { ariaHidden: "true" }, "Sort by "), order), way,
    element("span", { className: "pages", label: "pages of the documents" }, where, back, on))
  const about = element("dl")
  const title = element("h3"), words = element("p", { className: "text" }), note = element("p", { className: "hint" })
  const bars = element("tbody"), topics = element("table", { className: "bars" }, bars)
  const root = element("div", { className: "wb-shelf" },
    element("section", {}, said, tools, boxed(table, "documents", () => wide_table() ? 10 : 20)),
    element("section", {}, title, about, note, boxed(words, "A long document")), element("section", {}, boxed(topics, "topics")))

  const by = () => model.sort.replace(/^-/, ""), columns = () => model.content.columns ?? []
  const n_own = () => columns().findIndex(([key]) => key === "n_tokens") + 1, wide_table = () => columns().length > n_own()

  // Of what rows are sorted by already, the other way round.
  function sort_by(key) {
    const down = key !== by() ? model.orders.find(([name]) => name === key)?.[2] : !model.sort.startsWith("-")
    model.sort = key && down ? `-${key}` : key
  }

  function heading([key, title, hint], at) {
    if (!columns().length) return element("th", { scope: "col", title: hint, textContent: title })
    const made = element("th", { scope: "col", title: hint, className: at < n_own() ? "" : "words" },
      element("button", { type: "button", textContent: title, onclick: () => sort_by(key) }))
    made.ariaSort = key !== by() ? "none" : model.sort.startsWith("-") ? "descending" : "ascending"
    return made
  }

  function list() {
    put(said, model.said)
    const { documents = [], caption = "", page = 1, pages = 1, first = 1, total = 0 } = model.content
    table.hidden = !documents.length; table.setAttribute("aria-label", caption)
    root.classList.toggle("wide", wide_table())
    head.replaceChildren(...(columns().length ? columns() : model.headings.map((one) => ["", ...one])).map(heading))
    body.replaceChildren(...documents.map((one) => {
      const largest = one.topic === undefined ? [] : [element("td", {}, one.topic === null ? "–" : swatch(one))]
      const row = element("tr", { onclick: () => { model.chosen = one.document } },
        element("th", { scope: "row" }, element("button", { type: "button", textContent: one.title })), ...largest,
        element("td", {}, one.share === null ? "–" : percent(one.share)), element("td", {}, one.tokens.toLocaleString("en")),
        ...(one.cells ?? []).map((text) => element("td", { className: "words" }, text)))
      row.dataset.document = one.document
      return row
    }))
    tools.hidden = !documents.length || !model.orders.length
    put(where, `${first.toLocaleString("en")}–${(first + documents.length - 1).toLocaleString("en")} of ${total.toLocaleString("en")}`)
    back.disabled = page <= 1; on.disabled = page >= pages
    back.hidden = on.hidden = pages < 2
    choices()
    mark()
  }

  function swatch(one) {
    const made = element("span", { className: "swatch" }, String(one.topic))
    made.style.setProperty("--topic", one.colour)
    return made
  }

  function choices() {
    const usual = ["", "Usual order"], wanted = [usual, ...model.orders].map(([key, title]) => [key, title])
    if (order.dataset.choices !== JSON.stringify(wanted)) {
      order.replaceChildren(...wanted.map(([value, textContent]) => element("option", { value, textContent })))
      order.dataset.choices = JSON.stringify(wanted)
    }
    order.value = model.orders.some(([key]) => key === by()) ? by() : ""
    way.hidden = !order.value
    put(way, model.sort.startsWith("-") ? "↓" : "↑")
    way.title = way.ariaLabel = model.sort.startsWith("-") ? "largest first" : "smallest first"
  }

  function mark() {
    const shown = model.shown.document
    for (const row of body.children) {
      const own = Number(row.dataset.document) === shown
      row.classList.toggle("chosen", own); row.querySelector("button").ariaPressed = own
    }
  }

  function show() {
    const one = model.shown, there = one.words !== undefined
    title.hidden = about.hidden = note.hidden = words.hidden = topics.hidden = !there
    mark()
    if (!there) return
    put(title, one.title); put(note, one.note)
    about.replaceChildren(...(one.columns ?? []).map(([name, value]) =>
      element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))))
    words.replaceChildren(...one.words.flatMap((word) => {
      if (word.topic === null) return [word.word]
      const times = word.n > 1 ? [element("sub", {}, `×${word.n}`)] : []
      const made = element("span", { className: "token", title: word.told }, word.word, ...times)
      made.style.setProperty("--topic", word.colour); made.dataset.topic = word.topic
      made.classList.toggle("own", word.topic === one.topic && one.topic >= 0); made.classList.toggle("unknown", word.topic < 0)
      return one.raw ? [made] : [made, " "]
    }))
    topics.ariaLabel = `topics of ${one.title}`
    bars.replaceChildren(...one.topics.map((topic) => {
      const name = topic.label ? `${topic.topic} · ${topic.label}` : `topic ${topic.topic}`
      const row = element("tr", { title: "click to choose the topic", onclick: () => model.send_msg({ topic: topic.topic }) },
        element("th", { scope: "row" }, name), element("td", {}, track(topic.share / one.topics[0].share)),
        element("td", {}, percent(topic.share)))
      row.style.setProperty("--topic", topic.colour)
      return row
    }))
  }

  model.on("content", list); model.on("said", () => put(said, model.said)); model.on("orders", list); model.on("sort", list); model.on("shown", show)
  list(); show()
  return root
}
