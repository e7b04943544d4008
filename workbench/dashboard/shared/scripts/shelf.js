// A list of documents; of the one that is chosen its words, coloured by topic, and its topics as bars.
export function render({ model }) {
  const body = element("tbody"), said = element("p", { className: "hint" })
  const table = element("table", {}, element("thead", {}, element("tr", {},
    ...model.headings.map(([title, hint]) => element("th", { textContent: title, title: hint, scope: "col" })))), body)
  const about = element("dl")
  const title = element("h3"), words = element("p", { className: "text" }), note = element("p", { className: "hint" })
  const bars = element("tbody"), topics = element("table", { className: "bars" }, bars)
  const root = element("div", { className: "wb-shelf" }, element("section", {}, said, boxed(table, "documents")),
    element("section", {}, title, about, note, boxed(words, "A long document")), element("section", {}, boxed(topics, "topics")))

  function list() {
    put(said, model.said)
    const { documents = [], caption = "" } = model.content
    table.hidden = !documents.length; table.setAttribute("aria-label", caption)
    body.replaceChildren(...documents.map((one) => {
      const row = element("tr", { onclick: () => { model.chosen = one.document } },
        element("th", { scope: "row" }, element("button", { type: "button", textContent: one.title })),
        element("td", {}, one.share === null ? "–" : percent(one.share)), element("td", {}, one.tokens.toLocaleString("en")))
      row.dataset.document = one.document
      return row
    }))
    mark()
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

  model.on("content", list); model.on("said", () => put(said, model.said)); model.on("shown", show)
  list(); show()
  return root
}
