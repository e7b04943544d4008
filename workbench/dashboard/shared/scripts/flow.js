// Two runs side by side: topics as bars, ribbons by the tokens that they share. The chosen topic's ribbons stand out.
const ROW = 26, BAR = 12, GAP = 6, LINE = 15, BESIDE = 8
const NARROW = 160  // pixels beside the bars in which only the numbers of topics have room

export function render({ model }) {
  const plot = shape("svg", { role: "img", class: "flow" }), said = element("p", { className: "hint", ariaLive: "polite" })
  const root = element("div", { className: "wb-flow" }, said, plot)
  let pointed = null

  // Bars one below the other, each with room for its name; the height of all is that of the last one's end.
  function column(nodes, high) {
    const room = high - GAP * (nodes.length - 1), total = nodes.reduce((sum, one) => sum + one.tokens, 0) || 1
    let end = 0
    const bars = new Map(nodes.map((one) => {
      const tall = Math.max(room * one.tokens / total, 1), slot = Math.max(tall + GAP, LINE)
      const at = { top: end + (slot - tall) / 2, tall, used: 0, one }
      end += slot
      return [one.topic, at]
    }))
    return { bars, end }
  }

  function draw() {
    const width = root.clientWidth || 700, { left = [], right, ribbons, names, caption } = model.content
    put(said, model.said)
    plot.style.display = left.length ? "" : "none"
    if (!left.length) return
    const wordy = Math.min(250, width * 0.3), high = Math.max(300, ROW * Math.max(left.length, right.length))
    const from = wordy, to = width - wordy, total = left.reduce((sum, one) => sum + one.tokens, 0) || 1
    const { bars: a, end } = column(left, high), { bars: b, end: other } = column(right, high), tall = Math.max(end, other) + 30
    set(plot, { width, height: tall, viewBox: `0 0 ${width} ${tall}`, "aria-label": caption })
    const called = (name) => (wordy < NARROW ? name.replace(/^Topic /, "").replace(/^(\d+) \(matches /, "$1 (") : name)
    const cut = []  // texts, how wide each may be, and how many letters of it are never cut
    const runs = [[names[0], 0, "start"], [names[1], width, "end"]].map(([name, x, anchor]) => {
      const text = shape("text", { x, y: 12, "text-anchor": anchor, class: "name" }, name)
      cut.push([text, width / 2 - BESIDE, 0])
      return shape("g", {}, text, shape("title", {}, name))
    })
    const group = shape("g", { transform: "translate(0, 24)" })
    const scale = (at, tokens) => at.tall * tokens / Math.max(at.one.tokens, 1e-12)
    for (const [k, l, tokens] of ribbons) {
      const one = a.get(k), other = b.get(l), tall = scale(one, tokens), low = scale(other, tokens)
      const y0 = one.top + one.used, y1 = other.top + other.used, bend = (from + to) / 2
      one.used += tall; other.used += low
      const there = `M${from + BAR},${y0}C${bend},${y0} ${bend},${y1} ${to - BAR},${y1}V${y1 + low}`
      const back = `C${bend},${y1 + low} ${bend},${y0 + tall} ${from + BAR},${y0 + tall}Z`
      group.append(shape("path", { d: there + back, style: `--topic: ${one.one.colour}`, "data-from": k, "data-to": l },
        shape("title", {}, `topic ${k} and topic ${l}: ${percent(tokens / total)} of the tokens`)))
    }
    for (const [at, x, tx, anchor, side] of [...[...a.values()].map((at) => [at, from, from - BESIDE, "end", "from"]), ...[...b.values()].map((at) => [at, to - BAR, to + BESIDE, "start", "to"])]) {
      const bar = shape("rect", { x, y: at.top, width: BAR, height: at.tall, rx: 2, style: `--topic: ${at.one.colour}` })
      const text = shape("text", { x: tx, y: at.top + at.tall / 2 + 4, "text-anchor": anchor }, called(at.one.name))
      cut.push([text, wordy - BESIDE, called(at.one.name).indexOf(" · ")])
      const node = shape("g", { class: "node", [`data-${side}`]: at.one.topic }, bar, text, shape("title", {}, at.one.told))
      node.onpointerenter = () => { pointed = [side, at.one.topic]; mark() }
      node.onpointerleave = () => { pointed = null; mark() }
      if (side === "from") node.onclick = () => choose(model, at.one.topic)
      group.append(node)
    }
    plot.replaceChildren(...runs, group)
    if (root.clientWidth) for (const one of cut) shorten(...one)  // else nothing is laid out yet, and it is drawn again
    mark()
  }

  function mark() {
    const [side, topic] = pointed || ["from", model.chosen]
    for (const path of plot.querySelectorAll("path")) {
      path.setAttribute("class", topic === -1 ? "" : Number(path.dataset[side]) === topic ? "own" : "other")
    }
  }

  const watch = new ResizeObserver(draw)
  watch.observe(root)
  model.on("remove", () => watch.disconnect())
  model.on("content", draw); model.on("said", () => put(said, model.said))
  model.on("chosen", mark)
  return root
}
