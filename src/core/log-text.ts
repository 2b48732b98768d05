import { inspect } from 'node:util'

/*
 * Log entries contain strings from clients, databases and file names. None of them may look like another entry, or like a frame of a stack:
 * characters that a terminal or a log reader interprets are escaped, and every line of an entry but the first is indented.
 */

/** Limits in characters: of one message, of one line of a stack, and of one entry. */
const MAX_MESSAGE_LENGTH = 8_192
const MAX_LINE_LENGTH = 1_024
const MAX_ENTRY_LENGTH = 65_536
/** Limits in number: lines of one stack, nested causes, and errors of one AggregateError. */
const MAX_LINES = 100
const MAX_CAUSES = 8
const MAX_PARTS = 20

// Controls (C0, DEL, C1), line and paragraph separators, lone surrogates, and invisible formatting such as the bidirectional overrides.
// Not escaped are the two joiners that emoji and Persian need.
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The first `most` characters of a string as one line: characters that begin another line, or change how it is displayed, are escaped. */
export function escapeForLog(text: string, most = MAX_ENTRY_LENGTH): string {
  const kept = text.length > most ? text.slice(0, most) : text
  const escaped = kept.replaceAll(UNSAFE, escapeCharacter)
  return kept === text ? escaped : `${escaped}... (${text.length - most} more characters)`
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code > 0xffff) return `\\u{${hex}}`
  return NAMED[character] ?? (code > 0xff ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`)
}

/** Anything thrown, as a log entry: an error with its stack and causes, other values as `inspect()` writes them. Never throws. */
export function describeError(error: unknown): string {
  const entry = new Entry()
  describe(entry, '', error, [])
  return entry.text
}

/**
 * An error for loggers that write objects: with its name, message, stack, code and causes, and without all other properties, such as the values of a
 * statement. Anything else that was thrown becomes an error with the text that `inspect()` writes. Never throws.
 */
export function copyError(error: unknown, depth = 0): Error {
  try {
    if (error instanceof Error) return copyKnown(error, depth)
  } catch {
    // A getter, or a Proxy, that throws.
  }
  return new Error(escapeForLog(textOf(error), MAX_MESSAGE_LENGTH))
}

function copyKnown(error: Error, depth: number): Error {
  const cause = read(error, 'cause')
  const name = errorName(error)
  // Serializers write the name of the class.
  const Copy = { [name]: class extends Error {} }[name] ?? Error
  const copy = new Copy(escapeForLog(textOf(read(error, 'message') ?? ''), MAX_MESSAGE_LENGTH))
  const [title, ...lines] = linesOf(error)
  const hidden = { configurable: true, writable: true }
  Object.defineProperty(copy, 'name', { ...hidden, value: name })
  Object.defineProperty(copy, 'stack', { ...hidden, value: [title, ...lines].join('\n').slice(0, MAX_ENTRY_LENGTH) })
  if (cause !== undefined && depth < MAX_CAUSES)
    Object.defineProperty(copy, 'cause', { ...hidden, value: copyError(cause, depth + 1) })
  const code = read(error, 'code')
  if (typeof code === 'string' || typeof code === 'number')
    Object.assign(copy, { code: typeof code === 'string' ? escapeForLog(code, MAX_LINE_LENGTH) : code })
  return copy
}

class Entry {
  readonly #lines: string[] = []
  #left = MAX_ENTRY_LENGTH

  get isFull(): boolean {
    return this.#left <= 0
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  add(line: string): void {
    if (this.isFull) return
    this.#left -= line.length + 1
    this.#lines.push(this.isFull ? '  (the rest is omitted)' : line)
  }
}

function describe(entry: Entry, lead: string, error: unknown, outer: readonly unknown[]): void {
  if (entry.isFull) return
  try {
    if (error instanceof Error) return describeKnown(entry, lead, error, outer)
  } catch {
    // A getter, or a Proxy, that throws.
  }
  entry.add(lead + escapeForLog(textOf(error), MAX_MESSAGE_LENGTH))
}

function describeKnown(entry: Entry, lead: string, error: Error, outer: readonly unknown[]): void {
  if (outer.includes(error)) return entry.add(`${lead}${errorName(error)} (again)`)
  if (outer.length > MAX_CAUSES) return entry.add(`${lead}${errorName(error)} (its causes are omitted)`)
  const [title = '', ...lines] = linesOf(error)
  for (const line of [lead + title, ...lines]) entry.add(line)
  const inside = [...outer, error]
  const parts = partsOf(error)
  for (const part of parts.slice(0, MAX_PARTS)) describe(entry, '  - ', part, inside)
  if (parts.length > MAX_PARTS) entry.add(`  - (${parts.length - MAX_PARTS} more)`)
  const cause = read(error, 'cause')
  if (cause !== undefined) describe(entry, '  caused by ', cause, inside)
}

function partsOf(error: Error): readonly unknown[] {
  const parts = error instanceof AggregateError ? read(error, 'errors') : []
  return Array.isArray(parts) ? parts : []
}

function linesOf(error: Error): readonly string[] {
  const [stack, message] = [read(error, 'stack'), read(error, 'message')]
  if (typeof stack !== 'string' || stack === '') return [titleOf(error)]
  const end = typeof message === 'string' ? endOfMessage(stack, message) : undefined
  if (end === undefined) return [titleOf(error), ...linesOfStack(stack).map(quoted)]
  const frames = end < stack.length ? framesOf(linesOfStack(stack.slice(end + 1))) : []
  return [escapeForLog(stack.slice(0, end), MAX_MESSAGE_LENGTH), ...frames]
}

function linesOfStack(stack: string): readonly string[] {
  return stack.slice(0, MAX_ENTRY_LENGTH).split('\n', MAX_LINES)
}

// After a line that is not a frame, lines that look like frames may be text.
function framesOf(lines: readonly string[]): readonly string[] {
  const other = lines.findIndex((line) => !/^\s+at /.test(line))
  const count = other < 0 ? lines.length : other
  return lines.map((line, at) => (at < count ? `    ${escapeForLog(line.trim(), MAX_LINE_LENGTH)}` : quoted(line)))
}

/**
 * The index in a stack where the message ends; undefined when that is not certain: some libraries change the message after the stack was
 * made, and what looks like a frame may then be a line of the old message.
 */
function endOfMessage(stack: string, message: string): number | undefined {
  const name = /^[^:\n]*/.exec(stack)?.[0] ?? ''
  const begin = stack.startsWith(message) || message === '' ? 0 : name.length + 2
  const end = message === '' ? name.length : begin + message.length
  return stack.startsWith(message, begin) && (end === stack.length || stack[end] === '\n') ? end : undefined
}

function quoted(line: string): string {
  return `  | ${escapeForLog(line.trimEnd(), MAX_LINE_LENGTH)}`
}

function titleOf(error: Error): string {
  const message = read(error, 'message') ?? 'its message cannot be read'
  return `${errorName(error)}: ${escapeForLog(textOf(message), MAX_MESSAGE_LENGTH)}`
}

function errorName(error: Error): string {
  return escapeForLog(textOf(read(error, 'name') ?? 'Error'), MAX_LINE_LENGTH)
}

function read(error: Error, key: string): unknown {
  try {
    return Reflect.get(error, key)
  } catch {
    return undefined
  }
}

/** A string as it is, other values as `inspect()` writes them. Never throws. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return inspect(value, { depth: 1, breakLength: Infinity })
  } catch {
    return '(a value that cannot be displayed)'
  }
}
