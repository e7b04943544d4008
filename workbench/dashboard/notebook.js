// Panel 1.9 sends every change that it takes from the kernel back to the kernel, where it undoes a newer one.
// Bokeh marks such changes as not to be sent; here the mark is heeded.
(function heed(tries) {
  const Manager = window.Bokeh?.Models?.["panel.models.comm_manager.CommManager"]
  if (!Manager) { if (tries) setTimeout(() => heed(tries - 1), 50); return }
  const told = Manager.prototype._document_changed
  if (told.heeds) return
  Manager.prototype._document_changed = function (event) { if (event.sync !== false) told.call(this, event) }
  Manager.prototype._document_changed.heeds = true
})(2400)
