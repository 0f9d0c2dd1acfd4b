// The whole tree in one window: a row for every branch, from the message where it left another one to its end, which
// says what became of it. Runs between forks are folded where there is no room for their messages. A branch's end is
// dragged to another row to bring the branch back there. By keyboard: arrows go from row to row, M takes a branch up.

const LEAST = 0.55; // The smallest scale to begin with: below it rows are scrolled.
const CLOSE = 8, WIDE = 24; // Pixels between two messages, at least and at most.
const LABELS = 400; // Pixels for what stands at an end, at most.
const HAND = 13; // Pixels around the end of a branch by which it is taken.

class WholeMap extends GraphMap {
  constructor(parent) {
    super(parent);
    this.open = new Set();
    this.box.tabIndex = 0;
    this.box.id = "fk-whole-map";
    this.box.setAttribute("role", "listbox");
    this.box.setAttribute("aria-label", "Branches and what became of them. Enter opens one, M brings it back into another");
    this.said = document.createElement("div");
    this.said.className = "fk-map-rows";
    this.box.append(this.said);
    this.box.onkeydown = (event) => this.pressed(event);
    this.box.onblur = () => { this.taken = null; this.left(); };
  }

  take(given) {
    given.rows.forEach((row, at) => { row.outcome = given.outcomes[at]; row.said = given.said[at]; });
    given.read = Object.fromEntries(given.stretches.flatMap(([row, , , ids]) => ids.map((id) => [id, given.rows[row].id])));
    super.take(given);
    this.said.replaceChildren(...given.rows.map((row, at) => {
      const option = document.createElement("div");
      option.id = `fk-whole-map-${at}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", String(row.current));
      option.textContent = [this.named(row), row.said, this.counted(row), row.text].filter(Boolean).join(", ");
      return option;
    }));
  }

  named(row) { return row.branches.concat(row.tags).join(", ") || "without a name"; }

  counted(row) { return `${row.folded} message${row.folded === 1 ? "" : "s"}`; }

  farthest() { return Math.min(1, Math.max(LEAST, super.farthest())); }

  // At the end of where one is, which is beyond the edge of a narrow window.
  home() {
    const row = this.rowOf.get(this.here()) ?? 0, scale = this.farthest(), [width, height] = this.size;
    this.keep(this.label(row) + (this.labels - width) / scale, y(row) - height / 2 / scale, scale);
  }

  wide() { return Math.max(this.size[0] / this.farthest(), this.ended + this.labels / this.farthest()); }

  // Where each stretch begins and ends, from left to right: folded as little as the width asks for.
  lay() {
    const { stretches, rows } = this.given;
    this.labels = Math.min(LABELS, this.size[0] * 0.5);
    const room = this.size[0] / this.farthest() - this.labels / this.farthest();
    for (const most of [Infinity, 40, 24, 12, 8, 5, 3, 2]) {
      this.begins = []; this.ends_ = []; this.folds = [];
      stretches.forEach(([, above, sides, ids, plain], at) => {
        const folded = plain && ids.length > most && !this.open.has(ids[0]);
        const from = Math.max(above < 0 ? 0 : this.ends_[above] + 1, ...sides.map((side) => this.ends_[side] + 1));
        this.begins.push(from); this.ends_.push(from + (folded ? Math.max(2.6, most) : ids.length) - 1); this.folds.push(folded);
      });
      this.columns = Math.max(...this.ends_, 0) + 1;
      if (this.columns * CLOSE <= room) break;
    }
    this.step = Math.max(CLOSE, Math.min(WIDE, room / this.columns));
    this.last = rows.map((_, row) => stretches.findLastIndex(([of]) => of === row));
    this.ended = this.x(this.columns);
  }

  x(column) { return LEFT + column * this.step; }

  // Where what a row says of its branch begins: beyond its end, and beyond the line by which it was brought back.
  label(row) {
    const at = this.last[row], end = this.x(this.ends_[at]);
    const back = this.backs.filter(([side, to]) => side === at && this.x(this.begins[to]) - end < 80).map(([, to]) => this.x(this.begins[to]));
    return Math.max(end, ...back) + 13;
  }

  picture() {
    this.lay();
    const { rows, stretches, current } = this.given, nodes = new Map(), lines = [];
    this.backs = stretches.flatMap(([, , sides], to) => sides.map((side) => [side, to]));
    const point = (id, column, row) => { nodes.set(id, { id, x: column, y: y(row), shape: "dot", size: 0.01, label: "", color: "transparent" }); return id; };
    const edge = (from, to, ink, path, dashes = false) => lines.push({ id: `${from}>${to}`, from, to, color: ink, width: path ? 2.6 : 1.5, dashes });
    const ids = stretches.map(([row, , , ids, plain], at) => {
      const middle = (this.begins[at] + this.ends_[at]) / 2, id = ids.at(-1);
      const drawn = { ...rows[row], folded: 0, current: ids.includes(current), merge: stretches[at][2].length > 0, role: stretches[at][5] };
      if (!plain) nodes.set(id, { ...this.dot(drawn, this.x(this.begins[at]), y(row)), id });
      else if (this.folds[at]) nodes.set(id, this.bar({ ...rows[row], folded: ids.length }, id, this.x(middle), y(row), SMALL));
      else point(id, this.x(this.ends_[at]), row);
      return id;
    });
    stretches.forEach(([row, above, sides, , , , path], at) => {
      const ink = rows[row].outcome === "dropped" && !path ? this.given.faint : rows[row].ink;
      if (above >= 0 && stretches[above][0] === row) edge(ids[above], ids[at], ink, path);
      else if (above >= 0) {
        const from = this.x(this.ends_[above]), turn = point(`·${ids[at]}.1`, from, row - 0.4);
        edge(ids[above], turn, ink, path);
        edge(turn, point(`·${ids[at]}.2`, from + Math.min(8, this.step * 0.7), row), ink, path);
        edge(`·${ids[at]}.2`, ids[at], ink, path);
      }
      for (const side of sides) {
        const from = stretches[side][0], turn = point(`·${ids[side]}-${ids[at]}`, this.x(this.begins[at]), from);
        edge(ids[side], turn, rows[from].ink, false, [3, 4]);
        edge(turn, ids[at], rows[from].ink, false, [3, 4]);
      }
    });
    return [[...nodes.values()], lines];
  }

  drawWords(ctx) {
    const { rows, stretches, colors, faint } = this.given, [left, top, scale] = this.camera(), size = Math.max(SIZE, 12.5 / scale);
    const end = left + this.size[0] / scale - 8 / scale;
    ctx.save();
    ctx.textRendering = "geometricPrecision"; // Small type is spaced evenly at any scale.
    stretches.forEach(([row, , , ids, plain], at) => {
      if (!plain || this.folds[at]) return;
      ctx.fillStyle = rows[row].outcome === "dropped" ? faint : rows[row].ink;
      ids.forEach((id, step) => {
        ctx.beginPath();
        ctx.arc(this.x(this.begins[at] + step), y(row), id === this.given.current ? 5 : this.spot === id ? 4.5 : 2.6, 0, 2 * Math.PI);
        ctx.fill();
      });
    });
    ctx.textBaseline = "middle";
    rows.forEach((row, at) => {
      if (y(at) < top - ROW || y(at) > top + this.size[1] / scale + ROW) return;
      const start = Math.max(this.label(at), left + 4 / scale), middle = y(at);
      let from = this.drawNames(ctx, row, start, end, middle, Math.min(size, ROW * 0.68));
      const ink = { back: row.name, open: colors.text, dropped: colors.quiet }[row.outcome];
      for (const [words, color, weight] of [
        [row.said && `${{ back: "✓", open: "○", dropped: "✕" }[row.outcome]} ${row.said}`, ink, 600], [`${this.counted(row)}`, colors.quiet, 400], [row.text, colors.quiet, 400],
      ]) {
        ctx.font = `${weight} ${size * 0.9}px ${FACE}`;
        const text = words && fitting(ctx, words, end - from);
        if (!text) continue;
        const wide = ctx.measureText(text).width;
        ctx.fillStyle = at === this.hovered ? colors.surface : row.current ? colors.selected : colors.background;
        ctx.fillRect(from - 3, middle - ROW / 2 + 4, wide + 8, ROW - 8);
        ctx.fillStyle = color;
        ctx.fillText(text, from, middle + 1);
        from += wide + size * 0.7;
      }
    });
    if (this.taken?.to) {
      const { row, to: [across, down] } = this.taken;
      ctx.strokeStyle = ctx.fillStyle = colors.accent; ctx.lineWidth = 2 / scale; ctx.setLineDash([5 / scale, 4 / scale]);
      ctx.beginPath(); ctx.moveTo(this.x(this.ends_[this.last[row]]), y(row)); ctx.lineTo(across, down); ctx.stroke();
      ctx.beginPath(); ctx.arc(across, down, 5 / scale, 0, 2 * Math.PI); ctx.fill();
    }
    ctx.restore();
  }

  // What is at a point of a row: one of its messages, else its end.
  spotAt(row, across) {
    let best = this.given.rows[row].id, nearest = this.step / 2 + 5;
    this.given.stretches.forEach(([of, , , ids], at) => {
      if (of !== row) return;
      const step = Math.max(0, Math.min(ids.length - 1, Math.round((across - this.x(this.begins[at])) / this.step)));
      const away = this.folds[at] ? Math.abs(across - this.x((this.begins[at] + this.ends_[at]) / 2)) : Math.abs(across - this.x(this.begins[at] + step));
      if (away < nearest) { nearest = away; best = this.folds[at] ? `fold:${ids[0]}` : ids[step]; }
    });
    return best;
  }

  previewAt(row, spot) {
    const { rows, words, stretches } = this.given, one = rows[row], folded = spot.startsWith("fold:");
    const ids = folded && stretches.find(([, , , ids]) => ids[0] === spot.slice(5))[3];
    return [["fk-preview-who", folded ? `${ids.length} messages` : this.named(one)],
      ["fk-preview-text", folded ? [words[ids[0]], words[ids.at(-1)]].filter(Boolean).join("\n…\n") : words[spot] ?? one.text],
      ["fk-preview-notes", [one.said, this.counted(one)].filter(Boolean).join(" · ")]];
  }

  indent(event) { return event.clientX; }

  clicked({ pointer }) {
    const row = this.rowAt(pointer.canvas.y);
    if (row < 0) return;
    const spot = this.spotAt(row, pointer.canvas.x), id = spot.slice(5);
    preview.hide();
    if (!spot.startsWith("fold:")) { this.send("open", spot); return; }
    this.open.add(id);
    this.change(this.given);
  }

  menu(pointer) { // Of the message that is pointed at, not of the end of its branch.
    const { x: across, y: down } = this.network.DOMtoCanvas(pointer.DOM), row = this.rowAt(down), box = this.frame.getBoundingClientRect();
    const spot = row < 0 ? "fold:" : this.spotAt(row, across);
    preview.hide();
    if (!spot.startsWith("fold:")) menuOf(spot, box.left + pointer.DOM.x, box.top + pointer.DOM.y, this.box);
  }

  find(left) {
    super.find(left);
    if (!this.network || this.hears) return;
    this.hears = true;
    const inner = this.frame.contentDocument, at = (event) => this.network.DOMtoCanvas({ x: event.clientX, y: event.clientY });
    inner.addEventListener("pointerdown", (event) => {
      const { x: across, y: down } = at(event), row = this.rowAt(down);
      if (event.button || row < 0 || !this.mayGo(row) || Math.abs(across - this.label(row) + 13) > HAND) return;
      event.stopPropagation(); event.preventDefault();
      preview.hide();
      inner.documentElement.setPointerCapture(event.pointerId);
      this.taken = { row, from: event.clientX + event.clientY };
    }, { capture: true });
    inner.addEventListener("pointermove", (event) => {
      if (!this.taken || !event.buttons) return;
      const { x: across, y: down } = at(event);
      this.taken.to = [across, down];
      this.hovered = this.rowAt(down);
      inner.body.style.cursor = this.mayTake(this.hovered) ? "copy" : "grabbing";
      this.network.redraw();
    });
    inner.addEventListener("pointerup", (event) => {
      if (!this.taken) return;
      const { x: across, y: down } = at(event), onto = this.rowAt(down);
      if (onto === this.taken.row) this.send("open", this.spotAt(onto, across));
      else this.bring(onto);
      this.taken = null;
      this.network.redraw();
    });
  }

  // Whose end can be brought somewhere, and where the one that is taken up can go.
  mayGo(row) { return this.given.writes && this.given.rows[row]?.branches.length > 0; }

  mayTake(row) { return row >= 0 && row !== this.taken?.row && this.mayGo(row); }

  bring(onto) {
    if (this.mayTake(onto)) this.send("bring", this.given.rows[this.taken.row].id, this.given.rows[onto].id);
  }

  pressed(event) {
    const { rows } = this.given, page = Math.max(1, Math.floor(this.size[1] / ROW / this.camera()[2]) - 1);
    const at = this.hovered < 0 ? this.rowOf.get(this.here()) ?? 0 : this.hovered;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1, PageDown: at + page, PageUp: at - page }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (to !== undefined) {
      this.hovered = Math.max(0, Math.min(rows.length - 1, to));
      this.box.setAttribute("aria-activedescendant", `fk-whole-map-${this.hovered}`);
      this.show(true, this.hovered);
      if (this.taken) this.taken.to = [this.label(this.hovered), y(this.hovered)];
    } else if (event.key === "Enter" && this.taken) { this.bring(at); this.taken = null; }
    else if (event.key === "Enter") this.send("open", rows[at].id);
    else if (event.key.toLowerCase() === "m" && this.mayGo(at)) this.taken = { row: at };
    else if (event.key === "Escape" && this.taken) this.taken = null;
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      const box = this.box.getBoundingClientRect(), { y: down } = this.network.canvasToDOM({ x: 0, y: y(at) });
      menuOf(rows[at].id, box.left + 40, box.top + down, this.box);
    } else return;
    event.preventDefault(); event.stopPropagation();
    this.network.redraw();
  }

  resized() {
    const [width, height] = this.size ?? [];
    super.resized();
    if (!this.network || (this.size[0] === width && this.size[1] === height)) return;
    this.change(this.given);
    this.home();
  }
}
