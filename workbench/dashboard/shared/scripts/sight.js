// A place without height that tells when it has come in sight.
export function render({ model }) {
  const place = element("div")
  new IntersectionObserver((seen) => { model.seen ||= seen.some((each) => each.isIntersecting) }).observe(place)
  return place
}
