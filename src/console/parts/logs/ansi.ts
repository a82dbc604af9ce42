import Anser from 'anser'

/** Part of a line with one style; a color is a name of the palette below, or `rgb(…)`. */
export interface Span {
  text: string
  color?: string
  background?: string
  isBold?: boolean
  isDim?: boolean
  isItalic?: boolean
  isUnderlined?: boolean
  /** Link target; only http or https. */
  href?: string
}

const ESCAPE = String.fromCharCode(27)
const BELL = String.fromCharCode(7)
const SEQUENCE = new RegExp(`${ESCAPE}\\[[0-?]*[ -/]*[@-~]`, 'g')
/** Terminal titles and links: `ESC ] … BEL` or `ESC ] … ESC \`. */
const COMMAND = new RegExp(`${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)`, 'g')
const COLOR_SEQUENCE = /^\[[\d;]*m$/
const LINK = /https?:\/\/[^\s"'<>`{}|\\^]+/g
/** Punctuation that belongs to the sentence around an address. */
const AFTER_LINK = /[.,;:!?)\]]+$/
const SPACE = 32
const DELETE = 127
const TAB = 9

/** Line as a terminal shows it in the end, with color sequences only: overwritten text and cursor movements are removed. */
function finalText(line: string): string {
  const last = line
    .split('\r')
    .filter((part) => part !== '')
    .at(-1)
  const shown = (last ?? '').replace(COMMAND, '').replace(SEQUENCE, (found) => (COLOR_SEQUENCE.test(found.slice(1)) ? found : ''))
  return [...shown].filter((char) => char === ESCAPE || isShown(char.charCodeAt(0))).join('')
}

const isShown = (code: number) => code === TAB || (code >= SPACE && code !== DELETE && (code < 128 || code > 159))
const isPlain = (line: string) => {
  for (let at = 0; at < line.length; at += 1) if (!isShown(line.charCodeAt(at))) return false
  return true
}

/** Text of a line for search and copy. */
export function plainText(line: string): string {
  return isPlain(line) ? line : finalText(line).replace(SEQUENCE, '').replaceAll(ESCAPE, '')
}

/** Splits a line by style. Its text is data and never interpreted as markup (UI-40). */
export function spansOf(line: string): Span[] {
  if (isPlain(line)) return withLinks({ text: line })
  const entries = Anser.ansiToJson(finalText(line), { json: true, use_classes: true, remove_empty: true })
  return entries.flatMap((entry) => withLinks(spanOf(entry))).filter(({ text }) => text !== '')
}

function spanOf(entry: Anser.AnserJsonEntry): Span {
  const color = colorOf(entry.fg, entry.fg_truecolor)
  const background = colorOf(entry.bg, entry.bg_truecolor)
  const is = (name: Anser.DecorationName) => entry.decorations.includes(name)
  return {
    text: entry.content.replaceAll(ESCAPE, ''),
    ...(color !== undefined && { color }),
    ...(background !== undefined && { background }),
    ...(is('bold') && { isBold: true }),
    ...(is('dim') && { isDim: true }),
    ...(is('italic') && { isItalic: true }),
    ...(is('underline') && { isUnderlined: true }),
  }
}

/** `ansi-bright-red` becomes `red`: the palettes for dark and for light backgrounds have one red each. */
function colorOf(name: string | null, exact: string | null): string | undefined {
  if (!name) return undefined
  if (name === 'ansi-truecolor') return exact ? `rgb(${exact})` : undefined
  const cell = name.match(/^ansi-palette-(\d+)$/)?.[1]
  return cell === undefined ? name.replace(/^ansi-(bright-)?/, '') : `rgb(${paletteColor(Number(cell))})`
}

const CUBE = [0, 95, 135, 175, 215, 255]
const GRAYS = 232

/** One of the 256 terminal colors: a cube of 6 × 6 × 6, then 24 grays. */
function paletteColor(cell: number): string {
  if (cell >= GRAYS)
    return Array(3)
      .fill(8 + (cell - GRAYS) * 10)
      .join(', ')
  const at = cell - 16
  return [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => CUBE[step] ?? 0).join(', ')
}

function withLinks(span: Span): Span[] {
  const spans: Span[] = []
  let end = 0
  for (const { 0: found, index } of span.text.matchAll(LINK)) {
    const address = found.replace(AFTER_LINK, '')
    if (!URL.canParse(address)) continue
    if (index > end) spans.push({ ...span, text: span.text.slice(end, index) })
    spans.push({ ...span, text: address, href: address })
    end = index + address.length
  }
  if (end < span.text.length || spans.length === 0) spans.push({ ...span, text: span.text.slice(end) })
  return spans
}
