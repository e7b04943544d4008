// Search, sorting and grouping of the runs: functions of the rows that Python sends.
const EXACT = {
  engine: (run) => [run.engine], k: (run) => run.K.match(/\d+/g) || [], seed: (run) => [run.seed],
}
const BEGINS = {
  state: (run) => [run.state], corpus: (run) => [run.corpus], tag: (run) => run.tags, name: (run) => [run.name],
  note: (run) => [run.note], label: (run) => [run.label],
}
const SORTED = {
  run: (run) => `${run.label} ${run.name}`, tags: (run) => run.tags.join(" ") || null, state: (run) => run.state,
}

// `engine:cgs k:10 -tag:old "two words"` as a list of {not, key, word}; a key without a value yet is left out.
function terms(query) {
  return [...query.toLowerCase().matchAll(/(-?)(?:([a-z_]+):)?(?:"([^"]*)"|([^\s"]+))/g)]
    .map(([, not, key, quoted, plain]) => ({ not: not === "-", key, word: quoted ?? plain }))
    .filter(({ key, word }) => word && !(key === undefined && /^[a-z_]+:$/.test(word)))
}

function fits(run, { not, key, word }) {
  const lower = (values) => values.map((value) => value.toLowerCase())
  let found
  if (key === undefined) found = run.text.includes(word)
  else if (key in EXACT) found = lower(EXACT[key](run)).includes(word)
  else if (key in BEGINS) found = lower(BEGINS[key](run)).some((value) => value.includes(word))
  else found = run.label.toLowerCase().split(" ").includes(`${key}=${word}`)
  return found !== not
}

// What is wrong with the keys of a query, in a sentence: keys that nothing has, options that no run has.
function unknown(runs, query) {
  const known = [...Object.keys(EXACT), ...Object.keys(BEGINS)]
  const odd = terms(query).map(({ key }) => key).find((key) => key && !known.includes(key)
    && !runs.some((run) => ` ${run.label.toLowerCase()}`.includes(` ${key}=`)))
  return odd && `There is no ${odd}: to look for. Keys are ${known.map((key) => `${key}:`).join(" ")} and options as r:`
}

function find(runs, query) {
  const asked = terms(query)
  return asked.length ? runs.filter((run) => asked.every((term) => fits(run, term))) : runs
}

// By a column, "-" before its name from the largest on.
function in_order(runs, by) {
  const column = by.replace("-", "")
  return by ? sorted(runs, SORTED[column] || (column in (runs[0]?.numbers ?? {}) ? (run) => run.numbers[column] : by_setting(runs, column)),
    by.startsWith("-")) : runs
}

// The value of a setting: a number where all runs that have it have one, inf among them, else a text; null of a run without it.
function by_setting(runs, setting) {
  const number = (value) => value === "inf" ? Infinity : Number(value)
  const held = runs.map((run) => setting_of(run, setting)).filter((value) => value !== undefined)
  const wanted = held.every((value) => value !== "" && !Number.isNaN(number(value))) ? number : String
  return (run) => { const value = setting_of(run, setting); return value === undefined ? null : wanted(value) }
}

const setting_of = (run, setting) => setting in run.settings ? run.settings[setting] : { engine: run.engine, corpus: run.corpus }[setting]

const NONE = "–"
const head_of = (run, group) => String(setting_of(run, group) ?? NONE)

// Runs and heads ({head, runs}) in the order in which they stand; the runs of a closed group are left out.
function lines(runs, group, closed) {
  if (!group) return runs
  const groups = new Map()
  for (const run of runs) groups.set(head_of(run, group), [...(groups.get(head_of(run, group)) || []), run])
  return [...groups].flatMap(([head, own]) => [{ head, runs: own }, ...(closed.has(head) ? [] : own)])
}
