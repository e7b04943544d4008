// Words that were found, each with the topics that it lies in; a click on a topic chooses it.
export function render({ model }) {
  const said = element("p", { className: "hint", ariaLive: "polite" }), body = element("tbody")
  const heads = [["Word", ""], ["Tokens", "training tokens"], ["Topics", "p(topic | word): which share of the word's tokens each topic has"]]
  const table = element("table", {}, element("thead", {}, element("tr", {},
    ...heads.map(([title, hint]) => element("th", { textContent: title, title: hint, scope: "col" })))), body)
  const root = element("div", { className: "wb-words" }, said, boxed(table, "words", 10))

  function chip(one) {
    const name = one.label ? `${one.topic} · ${one.label}` : String(one.topic)
    const made = element("button", { type: "button", className: "topic", title: "click to choose the topic",
      onclick: () => choose(model, one.topic) }, name, element("span", {}, percent(one.share)))
    made.setAttribute("aria-label", `topic ${name}, ${percent(one.share)}`)
    made.style.setProperty("--topic", one.colour); made.dataset.topic = one.topic
    return made
  }

  function show() {
    const { words = [], caption = "" } = model.content
    put(said, model.said)
    root.hidden = !model.said; table.hidden = !words.length; table.setAttribute("aria-label", caption)
    body.replaceChildren(...words.map((one) => element("tr", {}, element("th", { scope: "row" }, one.word),
      element("td", {}, one.tokens.toLocaleString("en")), element("td", {}, ...one.topics.map(chip)))))
    mark()
  }

  function mark() {
    for (const button of body.querySelectorAll("button")) button.ariaPressed = Number(button.dataset.topic) === model.chosen
  }

  model.on("content", show); model.on("said", show); model.on("chosen", mark)
  show()
  return root
}
