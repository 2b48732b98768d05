import { BootError } from '../../core/boot-error.js'
import { decodePercent, isDotSegment } from '../ambiguous-requests.js'

/** A segment of a route's path: a fixed string, a variable, or at the end a tail, a variable for all segments that follow. */
export type Segment =
  | { readonly kind: 'fixed'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'tail'; readonly name: string }

const VARIABLE = /^:([A-Za-z_$][\w$]*)$/
const TAIL = /^\*([A-Za-z_$][\w$]*)$/

/**
 * The segments of a declared path: `'/heros/:hero_id'`, `'/files/*path'`.
 *
 * @throws BootError for a segment that is neither a string nor a variable, a tail that is not at the end, and for a repeated variable.
 */
export function parsePath(path: string, where: string): readonly Segment[] {
  const segments = path
    .split('/')
    .filter((text) => text !== '')
    .map((text) => parseSegment(text, path, where))
  const tail = segments.findIndex(({ kind }) => kind === 'tail')
  if (tail >= 0 && tail < segments.length - 1)
    throw new BootError(
      `${where}: the path '${path}' continues after a tail, which takes all segments. Write a variable, ':name'.`,
    )
  const names = variablesOf(segments)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new BootError(`${where}: the path '${path}' has the variable :${twice} twice. Rename one of them.`)
  return segments
}

/** The names of the variables of a path, and of its tail. */
export function variablesOf(segments: readonly Segment[]): readonly string[] {
  return segments.flatMap((segment) => (segment.kind === 'fixed' ? [] : [segment.name]))
}

function parseSegment(text: string, path: string, where: string): Segment {
  const name = VARIABLE.exec(text)?.[1]
  if (name !== undefined) return { kind: 'variable', name }
  const tail = TAIL.exec(text)?.[1]
  if (tail !== undefined) return { kind: 'tail', name: tail }
  if (/[:{}*?#]/.test(text)) {
    throw new BootError(
      `${where}: '${text}' in the path '${path}' is not a segment. ${text.includes('*') ? 'A tail is the whole last segment' : 'A variable is a whole segment'}, written '${text.includes('*') ? '*' : ':'}${bareName(text)}'.`,
    )
  }
  if (text.includes('%')) {
    throw new BootError(
      `${where}: '${text}' in the path '${path}' would never match, because paths are compared decoded. Write it decoded: 'café', not 'caf%C3%A9'.`,
    )
  }
  if (isDotSegment(text) || !text.isWellFormed()) {
    throw new BootError(
      `${where}: '${text}' in the path '${path}' would never match, because no client can send it. Remove it.`,
    )
  }
  return { kind: 'fixed', text }
}

/** The decoded segments of a request's path; one slash at the end is ignored: `'/heros/'` -> `['heros']`. */
export function splitPath(path: string): readonly string[] {
  const encoded = path.split('/')
  encoded.shift()
  const texts = path.includes('%') ? encoded.map(decodePercent) : encoded
  return texts.at(-1) === '' ? texts.slice(0, -1) : texts
}

/** Whether the segments of a request's path begin with those of a declared one. A variable matches any segment but an empty one. */
export function startsWithSegments(texts: readonly string[], segments: readonly Segment[]): boolean {
  return segments.every((segment, index) =>
    segment.kind === 'fixed' ? texts[index] === segment.text : Boolean(texts[index]),
  )
}

// Other frameworks write '{id}' for ':id', and '{*path}' or 'path*' for '*path'.
function bareName(text: string): string {
  return /^[{*:]*([A-Za-z_$][\w$]*)[}?*]*$/.exec(text)?.[1] ?? 'name'
}

/** `'/heros/:hero_id'` from its parts, without doubled or trailing slashes. */
export function joinPath(...parts: readonly string[]): string {
  return `/${parts
    .flatMap((part) => part.split('/'))
    .filter((text) => text !== '')
    .join('/')}`
}

/** The path as routes declare it: `'/heros/:hero_id'`. */
export function pathPattern(segments: readonly Segment[]): string {
  return `/${segments.map(writtenSegment).join('/')}`
}

function writtenSegment(segment: Segment): string {
  if (segment.kind === 'fixed') return segment.text
  return `${segment.kind === 'tail' ? '*' : ':'}${segment.name}`
}

/** The path as OpenAPI writes it: `'/heros/{hero_id}'`. */
export function openApiPath(segments: readonly Segment[]): string {
  return `/${segments.map((segment) => (segment.kind === 'fixed' ? segment.text : `{${segment.name}}`)).join('/')}`
}
