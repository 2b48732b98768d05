import { movedTo } from './moves.js'

/** A line of the report. */
export interface Note {
  /** From 1, in the text before the upgrade. */
  readonly line: number
  readonly text: string
}

export interface Upgraded {
  /** The same as before if nothing was written. */
  readonly text: string
  readonly done: readonly Note[]
  /** What has moved and was not written: for a person to change. */
  readonly left: readonly Note[]
}

/** `import { a, type B as C } from 'sequitur'`, also with `type`, or `export` for `import`. */
interface Statement {
  readonly offset: number
  readonly text: string
  /** `import type ` */
  readonly head: string
  /** What is between the braces. */
  readonly names: string
  readonly from: string
  readonly quote: string
  readonly door: string
  readonly end: string
  /** After the upgrade: `type B as C`. */
  specifiers: string[]
}

const NAMED = /^((?:import|export)[ \t]+(?:type[ \t]+)?)\{([^{}]*)\}(\s*from\s*)(['"])(sequitur(?:\/[a-z]+)?)\4(;?)/gm
/** `import * as all from 'sequitur'` */
const NAMESPACE = /^import[ \t]+(?:type[ \t]+)?\*\s*as\s+(\w+)\s+from\s*['"](sequitur(?:\/[a-z]+)?)['"]/gm
/** `const { a } = await import('sequitur')`, or of `require()`. */
const DESTRUCTURED = /\{([^{}]*)\}\s*=\s*(?:await\s+)?(?:import|require)\(\s*['"](sequitur(?:\/[a-z]+)?)['"]\s*\)/g
/** `import('sequitur').a`, a type or a value. */
const INLINE = /\bimport\(['"](sequitur(?:\/[a-z]+)?)['"]\)\)?\.(\w+)/g

/**
 * Imports each export from the door that has it now. Written are named imports and exports at the beginnings of lines, also in a string; other forms are
 * reported. The compiler checks the result.
 */
export function upgradeText(text: string): Upgraded {
  const statements = [...text.matchAll(NAMED)].map(statementOf)
  const added: Statement[] = []
  const done: Note[] = []
  const left = [...notesOfOtherForms(text)]
  for (const statement of statements)
    for (const [door, moved] of movedIn(statement)) {
      const line = lineAt(text, statement.offset)
      if (hasComment(statement)) {
        left.push({ line, text: `${namesOf(moved)}: exported by ${door} (the import has a comment)` })
        continue
      }
      done.push({ line, text: `${namesOf(moved)}: imported from ${door}` })
      statement.specifiers = statement.specifiers.filter((specifier) => !moved.includes(specifier))
      const present = [...statements, ...added].find(
        (other) => other.door === door && other.head === statement.head && !hasComment(other),
      )
      if (present) present.specifiers = [...new Set([...present.specifiers, ...moved])]
      else added.push({ ...statement, door, specifiers: moved })
    }
  return {
    text: done.length === 0 ? text : write(text, statements, added),
    done,
    left: left.toSorted((a, b) => a.line - b.line),
  }
}

function statementOf(match: RegExpExecArray): Statement {
  const [text, head = '', names = '', from = '', quote = '', door = '', end = ''] = match
  const specifiers = specifiersOf(names)
  return { offset: match.index, text, head, names, from, quote, door, end, specifiers }
}

function specifiersOf(names: string): string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function hasComment({ names }: Statement): boolean {
  return /\/[/*]/.test(names)
}

/** The specifiers that have moved, by their doors. */
function movedIn(statement: Statement): Map<string, string[]> {
  const moved = new Map<string, string[]>()
  const { door, names, specifiers } = statement
  for (const specifier of hasComment(statement) ? (names.match(/\w+/g) ?? []) : specifiers) {
    const to = movedTo(door, exportOf(specifier))
    if (to !== undefined) moved.set(to, [...(moved.get(to) ?? []), specifier])
  }
  return moved
}

/** `type B as C` -> `B` */
function exportOf(specifier: string): string {
  const [, name = ''] = /^(?:type\s+(?!as\b))?([\w$]+)/.exec(specifier) ?? []
  return name
}

function namesOf(specifiers: readonly string[]): string {
  return specifiers.map(exportOf).join(', ')
}

function* notesOfOtherForms(text: string): Generator<Note> {
  const noteOf = (offset: number, name: string, door: string): Note[] => {
    const to = movedTo(door, name)
    return to === undefined ? [] : [{ line: lineAt(text, offset), text: `${name}: exported by ${to}` }]
  }
  for (const { index, 1: names = '', 2: door = '' } of text.matchAll(DESTRUCTURED))
    for (const name of names.split(',')) yield* noteOf(index, name.split(':')[0]?.trim() ?? '', door)
  for (const { index, 1: door = '', 2: name = '' } of text.matchAll(INLINE)) yield* noteOf(index, name, door)
  for (const { 1: namespace = '', 2: door = '' } of text.matchAll(NAMESPACE))
    for (const { index, 1: left = '', 2: name = '' } of text.matchAll(/\b(\w+)\.(\w+)/g))
      if (left === namespace) yield* noteOf(index, name, door)
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** The added statements stand after those whose specifiers they have. */
function write(text: string, statements: readonly Statement[], added: readonly Statement[]): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const parts: string[] = []
  let end = 0
  for (const statement of statements) {
    const after = added.filter(({ offset }) => offset === statement.offset)
    const isSame = statement.specifiers.join() === specifiersOf(statement.names).join()
    const own = isSame ? [statement.text] : statement.specifiers.length === 0 ? [] : [textOf(statement, eol)]
    const written = [...own, ...after.map((one) => textOf(one, eol))]
    parts.push(text.slice(end, statement.offset), written.join(eol))
    end = statement.offset + statement.text.length
    if (written.length === 0 && text.startsWith(eol, end)) end += eol.length
  }
  return parts.join('') + text.slice(end)
}

/** On several lines, if it was. */
function textOf({ head, names, specifiers, from, quote, door, end }: Statement, eol: string): string {
  const isLong = names.includes('\n') && specifiers.length > 2
  const [, indent = '  '] = /\n([ \t]+)/.exec(names) ?? []
  const list = isLong
    ? specifiers.map((specifier) => `${eol}${indent}${specifier},`).join('') + eol
    : names.startsWith(' ') || names.includes('\n')
      ? ` ${specifiers.join(', ')} `
      : specifiers.join(', ')
  return `${head}{${list}}${from}${quote}${door}${quote}${end}`
}
