// Mends the browser side of Panel 1.9 in a notebook; see docs/decisions/notebook_views.md.
(function mend(tries) {
  const Manager = window.Bokeh?.Models?.["panel.models.comm_manager.CommManager"]
  if (!Manager) { if (tries) setTimeout(() => mend(tries - 1), 50); return }
  const { _document_changed: tell, msg_handler: take } = Manager.prototype
  if (tell.mended) return
  name_controls(Bokeh.Models)

  // What came from the kernel is sent back to it and undoes what is newer, though Bokeh marks it as not to be sent.
  Manager.prototype._document_changed = function (event) { if (event.sync !== false) tell.call(this, event) }
  Manager.prototype._document_changed.mended = true

  // What comes before the view is drawn is dropped piece by piece, and the pieces that follow are misread for ever; and
  // what comes at once is taken in at once, though Bokeh reads data in several steps. Here each message waits its turn,
  // and begins anew with its header: where a piece was lost on the way, one message is lost and not all that follow.
  const HEADER = /^\s*{\s*"msgid"/
  Manager.prototype.msg_handler = function (msg) {
    const waiting = this.waiting ??= []
    const piece = (msg) => {
      const data = msg.content.data
      if (HEADER.test(data)) { this._receiver = new this._receiver.constructor(); this.begun = true }
      if (this.begun || !data?.length) take.call(this, msg)
      if (this._receiver.message != null) this.begun = false
    }
    const drawn = () => this.plot_id in this.ns.plot_index || this.plot_id in Bokeh.index
    const next = () => {
      if (!drawn()) { setTimeout(next, 50); return }
      try { do piece(waiting.shift()); while (waiting.length && this._receiver.message == null) }
      finally { if (waiting.length) setTimeout(next) }
    }
    waiting.push(msg)
    if (waiting.length === 1) setTimeout(next)
  }
})(2400)
