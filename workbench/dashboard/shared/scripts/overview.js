// The map of the topics, their list, and the words of the one that is chosen. A word that is pointed at says in which
// topics it lies: the points take their sizes from it. All of that happens in the browser.
const WIDE = 420, MARGIN = 46, LARGEST = 84, CROWD = 40

export function render({ model }) {
  const points = new Map(), lines = new Map()
  let pointed = null, pinned = null, editing = false

  const layer = shape("g"), above = shape("g", { "aria-hidden": "true" })  // numbers and labels, which no other topic covers
  const map = shape("svg", { viewBox: `0 0 ${WIDE} ${WIDE}`, role: "group", class: "map" }, layer, above)
  const where = element("p", { className: "hint", ariaLive: "polite" })
  const list = element("tbody"), topics = element("table", { className: "topics" },
    element("thead", {}, element("tr", {}, ...["Topic", "Size", "Words"].map((title) => element("th", { textContent: title, scope: "col" })))), list)
  const rows = element("tbody"), phi = element("th", { scope: "col" }), lift = element("th", { scope: "col" })
  const words = element("table", { className: "words" }, element("thead", {}, element("tr", {},
    element("th", { textContent: "Word", scope: "col" }), element("th", { scope: "col", ariaLabel: "bars" }), phi, lift)), rows)
  const title = element("h3"), all = element("button", { type: "button", onclick: () => toggle(model.chosen) }, "Whole corpus")
  const name = element("button", { type: "button", onclick: () => edit() }, "Edit label")
  const field = element("input", { type: "text", maxLength: 80, hidden: true, placeholder: "what it is about" })
  const wrong = element("p", { className: "bad", role: "alert" }), legend = element("p", { className: "hint" })
  const head = element("div", { className: "head" }, title, field, name, all)
  const root = element("div", { className: "wb-overview" }, element("section", {}, map, where),
    element("section", { className: "listed" }, boxed(topics, "topics")),
    element("section", { className: "worded" }, head, wrong, legend, boxed(words, "words", 30)))

  const topic = (number) => model.topics.find((one) => one.topic === number)
  const name_of = (one) => [one.node, one.label].filter(Boolean).join(" · ")
  const called = (one) => name_of(one) ? `topic ${one.topic}: ${name_of(one)}` : `topic ${one.topic}`
  const toggle = (number) => { leave(); choose(model, number) }
  const spread = () => (model.words.rows || []).find((row) => row.word === (pointed ?? pinned))

  // ------------------------------------------------------------- the map

  function place() {
    const xs = model.topics.map((one) => one.x), ys = model.topics.map((one) => one.y)
    const middle = (list) => (Math.min(...list) + Math.max(...list)) / 2
    const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 1e-9)
    const scale = (WIDE - 2 * MARGIN) / span
    return (one) => [WIDE / 2 + (one.x - middle(xs)) * scale, WIDE / 2 - (one.y - middle(ys)) * scale]
  }

  function drawMap() {
    const at = place(), numbers = new Set(model.topics.map((one) => one.topic))
    for (const [number, point] of points) if (!numbers.has(number)) { point.group.remove(); point.texts.remove(); points.delete(number) }
    model.topics.forEach((one, rank) => {
      if (!points.has(one.topic)) points.set(one.topic, makePoint(one.topic))
      const { group, texts, circle, number, label, hint } = points.get(one.topic), [x, y] = at(one)
      group.style.transform = texts.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`
      set(circle, { style: `--topic: ${one.colour}` })
      put(number, String(one.topic)); put(hint, `${called(one)}, ${percent(one.share)}: ${one.words.join(" ")}`)
      const full = one.label || one.node, short = full.length > 22 ? full.slice(0, 21) + "…" : full
      put(label, model.topics.length > CROWD && one.topic !== model.chosen ? "" : short)
      set(group, { "aria-label": `${called(one)}, ${percent(one.share)} of the tokens` })
      if (layer.children[rank] !== group) layer.insertBefore(group, layer.children[rank] || null)
    })
    set(map, { "aria-label": `map of ${model.topics.length} topics of ${model.run}; the list beside it holds the same` })
    sizes()
  }

  function makePoint(number) {
    const circle = shape("circle"), label = shape("text", { class: "label", "text-anchor": "middle" })
    const text = shape("text", { class: "number", "text-anchor": "middle", dy: "0.35em" }), hint = shape("title")
    const group = shape("g", { role: "button", tabindex: -1, "data-topic": number }, hint, circle), texts = shape("g", {}, text, label)
    above.append(texts)
    Object.assign(group, {
      onclick: () => toggle(number), onpointerenter: () => say(topic(number)), onpointerleave: () => say(),
      onkeydown: (event) => along(event, [...points.keys()], number, (next) => points.get(next).group),
    })
    return { group, texts, circle, number: text, label, hint }
  }

  function sizes() {
    const word = spread(), first = model.topics.some((one) => one.topic === model.chosen) ? model.chosen : model.topics[0]?.topic
    model.topics.forEach((one, at) => {
      const { group, circle, number, label } = points.get(one.topic), share = word ? word.spread[at] : one.share
      const radius = Math.max(LARGEST * Math.sqrt(Math.max(share, 0)), word ? 2 : 4)
      circle.style.r = `${radius.toFixed(1)}px`
      set(number, { class: radius < 9 ? "number beside" : "number", x: radius < 9 ? (radius + 3).toFixed(1) : 0, "text-anchor": radius < 9 ? "start" : "middle" })
      set(label, { y: (radius + 13).toFixed(1) })
      set(group, { "aria-pressed": one.topic === model.chosen, tabindex: one.topic === first ? 0 : -1 })
    })
    say()
  }

  function say(one) {
    const word = spread()
    if (one) put(where, `${called(one)}, ${percent(one.share)} of the tokens: ${one.words.join(" ")}`)
    else if (word) {
      const shares = model.topics.map((each, at) => [word.spread[at], each]).filter(([share]) => share >= 0.01).sort((a, b) => b[0] - a[0])
      put(where, `“${word.word}” lies in ${shares.slice(0, 4).map(([share, each]) => `${called(each)} (${percent(share, 0)})`).join(", ")}`)
    } else put(where, model.said)
  }

  // ------------------------------------------------------------- the list

  function drawList() {
    const numbers = new Set(model.topics.map((one) => one.topic)), largest = Math.max(...model.topics.map((one) => one.share), 1e-12)
    for (const [number, line] of lines) if (!numbers.has(number)) { line.row.remove(); lines.delete(number) }
    model.topics.forEach((one, rank) => {
      if (!lines.has(one.topic)) lines.set(one.topic, makeLine(one.topic))
      const line = lines.get(one.topic)
      line.row.style.setProperty("--topic", one.colour)
      put(line.button, String(one.topic)); line.bar.style.width = wide(one.share / largest); put(line.size, percent(one.share))
      put(line.label, name_of(one)); put(line.words, one.words.join(" "))
      line.button.ariaLabel = called(one)
      if (list.children[rank] !== line.row) list.insertBefore(line.row, list.children[rank] || null)
    })
    topics.ariaLabel = `topics of ${model.run}`
  }

  function makeLine(number) {
    const onkeydown = (event) => along(event, model.topics.map((one) => one.topic), number, (next) => lines.get(next).button)
    const button = element("button", { type: "button", className: "topic", onkeydown }), bar = element("span", { className: "bar" })
    const size = element("span", { className: "share" }), label = element("strong"), text = element("span", { className: "some" })
    const row = element("tr", { onclick: () => toggle(number) }, element("th", { scope: "row" }, button),
      element("td", { className: "size" }, element("span", { className: "track" }, bar), size), element("td", {}, label, text))
    row.dataset.topic = number
    return { row, button, bar, size, label, words: text }
  }

  function along(event, numbers, number, node) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key]
    if (step) {
      const next = numbers[(numbers.indexOf(number) + step + numbers.length) % numbers.length]
      node(next).focus(); event.preventDefault()
    } else if (event.key === "Escape") toggle(model.chosen)
    else if (["Enter", " "].includes(event.key) && event.currentTarget.tagName === "g") { toggle(number); event.preventDefault() }
  }

  function mark() {
    const first = model.topics.some((one) => one.topic === model.chosen) ? model.chosen : model.topics[0]?.topic
    for (const [number, { row, button }] of lines) {
      row.classList.toggle("chosen", number === model.chosen)
      button.ariaPressed = number === model.chosen; button.tabIndex = number === first ? 0 : -1
    }
  }

  // ------------------------------------------------------------- the words

  function drawWords() {
    const of = topic(model.words.of), found = model.words.rows || []
    const one = model.words.of < 0 ? null : of
    put(title, one ? [`Topic ${one.topic}`, name_of(one)].filter(Boolean).join(" · ") : "The whole corpus")
    name.hidden = !one || editing || model.fixed; all.hidden = !one || editing
    put(phi, one ? "Topic" : "Saliency"); put(lift, one ? "Lift" : "Corpus")
    phi.title = one ? "share of the topic's tokens (phi)" : "p(word) times how far the word gives its topic away, nats"
    lift.title = one ? "how many times as frequent in the topic as in the corpus" : "share of the corpus' tokens"
    put(legend, !found.length ? "" : one ? "Coloured: share of the topic's tokens. Grey: share of the corpus' tokens."
      : "Words that tell topics apart, the most salient first. Grey: share of the corpus' tokens.")
    words.ariaLabel = one ? `words of topic ${one.topic}` : "salient words of the corpus"
    words.hidden = !found.length
    words.style.setProperty("--topic", one ? one.colour : "var(--wb-accent)")
    const scale = Math.max(...found.map((row) => Math.max(row.bar, one ? row.share : 0)), 1e-12)
    const commonest = one ? scale : Math.max(...found.map((row) => row.share), 1e-12)
    while (rows.children.length > found.length) rows.lastChild.remove()
    while (rows.children.length < found.length) rows.append(makeWord())
    found.forEach((row, at) => {
      const line = rows.children[at], [head, bars, first, second] = line.children, button = head.firstChild
      put(button, row.word); line.dataset.word = row.word
      bars.children[0].style.width = wide(row.bar / scale); bars.children[1].style.width = wide(row.share / commonest)
      put(first, row.first); put(second, row.second)
      button.ariaPressed = row.word === pinned; button.tabIndex = at === 0 ? 0 : -1
    })
    if (pinned !== null && !found.some((row) => row.word === pinned)) pinned = null
    if (model.topics.length) sizes()
  }

  function makeWord() {
    const point = () => { pointed = row.dataset.word; sizes() }, pass = () => { pointed = null; sizes() }
    const onkeydown = (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], other = step && rows.children[[...rows.children].indexOf(row) + step]
      if (other) { other.querySelector("button").focus(); event.preventDefault() }
      else if (event.key === "Escape") hold(null)
    }
    const title = "in which topics it lies: point at it, or click to hold"
    const button = element("button", { type: "button", title, onfocus: point, onblur: pass, onkeydown })
    const bars = element("td", { className: "bars" }, ...["bar", "corpus"].map((className) => element("span", { className })))
    const row = element("tr", {
      onpointerenter: point, onpointerleave: pass, onclick: () => hold(row.dataset.word === pinned ? null : row.dataset.word),
    }, element("th", { scope: "row" }, button), bars, element("td"), element("td"))
    return row
  }

  function hold(word) {
    pinned = word
    for (const row of rows.children) row.querySelector("button").ariaPressed = row.dataset.word === pinned
    sizes()
  }

  // ------------------------------------------------------------- labels

  function edit() {
    editing = true; field.hidden = false; title.hidden = true
    field.value = topic(model.chosen)?.label || ""; field.ariaLabel = `label of topic ${model.chosen}`
    name.hidden = true; all.hidden = true
    field.focus(); field.select()
  }

  function leave() {
    if (!editing) return
    editing = false; field.hidden = true; title.hidden = false
    drawWords()
  }

  field.onblur = leave
  field.onkeydown = (event) => {
    if (event.key === "Enter") model.send_msg({ label: field.value, topic: model.chosen })
    if (event.key === "Enter" || event.key === "Escape") { leave(); name.focus(); event.preventDefault() }  // else Enter presses the button
  }

  function show() { root.hidden = !model.topics.length; if (model.topics.length) { drawMap(); drawList(); mark() } if (!editing) drawWords() }
  model.on("topics", show); model.on("said", () => say()); model.on("words", () => { if (!editing) drawWords() })
  model.on("chosen", () => { mark(); reveal(lines.get(model.chosen)?.row); if (model.topics.length) drawMap() })
  model.on("wrong", () => put(wrong, model.wrong))
  show()
  return root
}
