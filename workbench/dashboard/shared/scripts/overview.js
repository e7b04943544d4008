// The map of the topics, their list, and the words of the one that is chosen. A word that is pointed at says in which
// topics it lies: the points take their sizes from it. All of that happens in the browser.
const WIDE = 420, MARGIN = 46, LARGEST = 84, CROWD = 40, CLOSEST = 12, STEP = 1.6, SLIP = 4
const DIGIT = 0.66  // width of a digit for its height

export function render({ model }) {
  const points = new Map(), lines = new Map()
  let pointed = null, pinned = null, editing = false
  let zoom = 1, corner = [0, 0], grip = null, covered = 0, drawn = ""  // grip: where the pointer took hold, and the corner then

  const layer = shape("g"), above = shape("g", { "aria-hidden": "true" })  // numbers and labels, which no other topic covers
  const map = shape("svg", { viewBox: `0 0 ${WIDE} ${WIDE}`, role: "group", class: "map" }, layer, above)
  const nearer = element("button", { type: "button", label: "Zoom in", title: "Zoom in: also Ctrl and wheel", textContent: "+", onclick: () => look(zoom * STEP) })
  const farther = element("button", { type: "button", label: "Zoom out", title: "Zoom out: also Ctrl and wheel", textContent: "−", onclick: () => look(zoom / STEP) })
  const whole = element("button", { type: "button", title: "Drag the map to move it", textContent: "Whole map", onclick: () => look(1) })
  const zooming = element("div", { className: "zooming" }, nearer, farther, whole)
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
  const root = element("div", { className: "wb-overview" }, element("section", {}, map, zooming, where),
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
    if (drawn !== model.run) { drawn = model.run; look(1) } else sizes()
  }

  function makePoint(number) {
    const circle = shape("circle"), label = shape("text", { class: "label", "text-anchor": "middle" })
    const text = shape("text", { class: "number", "text-anchor": "middle", dy: "0.35em" }), hint = shape("title")
    const group = shape("g", { role: "button", tabindex: -1, "data-topic": number }, hint, circle), texts = shape("g", {}, text, label)
    above.append(texts)
    Object.assign(group, {
      onclick: () => toggle(number), onpointerenter: () => say(topic(number)), onpointerleave: () => say(), onfocus: () => bring(number),
      onkeydown: (event) => along(event, [...points.keys()], number, (next) => points.get(next).group),
    })
    return { group, texts, circle, number: text, label, hint }
  }

  function sizes() {
    const word = spread(), first = model.topics.some((one) => one.topic === model.chosen) ? model.chosen : model.topics[0]?.topic
    const at = place(), discs = model.topics.map((one, rank) => {
      const { group, circle, label } = points.get(one.topic), share = word ? word.spread[rank] : one.share
      const radius = Math.max(LARGEST * Math.sqrt(Math.max(share, 0)), word ? 2 : 4) / Math.sqrt(zoom)  // circles come apart
      circle.style.r = `${radius.toFixed(2)}px`
      set(label, { y: (radius + 13 / zoom).toFixed(2) })
      set(group, { "aria-pressed": one.topic === model.chosen, tabindex: one.topic === first ? 0 : -1 })
      return { topic: one.topic, at: at(one), radius }
    })
    placeNumbers(discs)
    say()
  }

  // A number stands in its circle, or beside a small one: on no other number and in no smaller circle. One without such a
  // place is hidden until there is more room; the chosen topic's and then those of the largest circles come first.
  function placeNumbers(discs) {
    const order = [...discs].sort((a, b) => (b.topic === model.chosen) - (a.topic === model.chosen) || b.radius - a.radius), taken = []
    covered = 0
    for (const { topic, at: [x, y], radius } of order) {
      const { number } = points.get(topic), small = radius * zoom < 9, high = (small ? 10 : 12) / zoom
      const wide = DIGIT * high * String(topic).length, aside = small ? radius + 3 / zoom + wide / 2 : radius - wide / 2
      const above = small ? radius + high / 2 : radius - high / 2, smaller = discs.filter((other) => other.radius < radius)
      const sides = [[1, 0], [-1, 0], [0, -1], [0, 1], [0.7, -0.7], [-0.7, -0.7], [0.7, 0.7], [-0.7, 0.7]]
      const places = [...(small ? [] : [[0, 0]]), ...sides.map(([right, down]) => [right * aside, down * above])]
      const free = ([dx, dy]) => taken.every(([tx, ty, tw, th]) => Math.abs(x + dx - tx) >= (wide + tw) / 2 || Math.abs(y + dy - ty) >= (high + th) / 2)
      const own = ([dx, dy]) => smaller.every(({ at: [ox, oy], radius: theirs }) => Math.hypot(x + dx - ox, y + dy - oy) > theirs + high / 2)
      const found = places.find((one) => free(one) && own(one)) || (topic === model.chosen ? places[0] : null), [dx, dy] = found || [0, 0]
      set(number, { class: `number${small ? " beside" : ""}${found ? "" : " covered"}`, x: dx.toFixed(2), y: dy.toFixed(2) })
      if (found) taken.push([x + dx, y + dy, wide, high])
      else covered += 1
    }
  }

  const seen = (point) => point.every((value, axis) => value >= corner[axis] && value <= corner[axis] + WIDE / zoom)

  // What the buttons zoom to: the chosen topic, or the middle of the topics that are seen.
  function focus() {
    const at = place(), shown = model.topics.filter((one) => seen(at(one))), chosen = shown.filter((one) => one.topic === model.chosen)
    const points = (chosen.length ? chosen : shown).map(at)
    return corner.map((low, axis) => points.length ? points.reduce((sum, point) => sum + point[axis], 0) / points.length : low + WIDE / zoom / 2)
  }

  // Zooms; the point (x, y) of the map stays where it is.
  function look(next, [x, y] = focus()) {
    const before = zoom
    zoom = Math.min(Math.max(next, 1), CLOSEST)
    move([x - (x - corner[0]) * before / zoom, y - (y - corner[1]) * before / zoom])
    map.classList.toggle("zoomed", zoom > 1)
    map.style.setProperty("--zoom", zoom.toFixed(3))
    nearer.disabled = zoom === CLOSEST; farther.disabled = whole.disabled = zoom === 1
    if (model.topics.length) sizes()
  }

  function move(to) {
    corner = to.map((low) => Math.min(Math.max(low, 0), WIDE - WIDE / zoom))
    set(map, { viewBox: [...corner, WIDE / zoom, WIDE / zoom].map((one) => one.toFixed(2)).join(" ") })
  }

  // Moves a zoomed map to a topic that lies outside of what is seen.
  function bring(number) {
    const one = topic(number)
    if (zoom === 1 || !one) return
    const point = place()(one)
    if (!seen(point)) move(point.map((value) => value - WIDE / zoom / 2))
  }

  const unit = () => WIDE / zoom / map.getBoundingClientRect().width
  Object.assign(map, {
    onpointerdown: (event) => { grip = zoom > 1 && event.button === 0 ? [event.clientX, event.clientY, ...corner] : null },
    onpointermove: (event) => {
      if (!grip || !event.buttons) { grip = null; return }
      const right = event.clientX - grip[0], down = event.clientY - grip[1]
      if (Math.hypot(right, down) > SLIP) map.setPointerCapture(event.pointerId)  // from here on it is no click on a topic
      if (map.hasPointerCapture(event.pointerId)) move([grip[2] - right * unit(), grip[3] - down * unit()])
    },
    onpointerup: () => { grip = null },
  })
  map.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return  // the page scrolls
    event.preventDefault()
    const box = map.getBoundingClientRect()
    look(zoom * Math.exp(-event.deltaY / 300), [corner[0] + (event.clientX - box.left) * unit(), corner[1] + (event.clientY - box.top) * unit()])
  }, { passive: false })

  function say(one) {
    const word = spread()
    if (one) put(where, `${called(one)}, ${percent(one.share)} of the tokens: ${one.words.join(" ")}`)
    else if (word) {
      const shares = model.topics.map((each, at) => [word.spread[at], each]).filter(([share]) => share >= 0.01).sort((a, b) => b[0] - a[0])
      put(where, `“${word.word}” lies in ${shares.slice(0, 4).map(([share, each]) => `${called(each)} (${percent(share, 0)})`).join(", ")}`)
    } else put(where, model.said + (covered ? ` Numbers without room: ${covered} of ${model.topics.length}; zoom in to see them.` : ""))
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
  model.on("chosen", () => { mark(); reveal(lines.get(model.chosen)?.row); if (model.topics.length) { drawMap(); bring(model.chosen) } })
  model.on("wrong", () => put(wrong, model.wrong))
  show()
  return root
}
