import { type Import, importLine, type MemberText } from './class-text.js'
import type { ExistingClass, IndexesPlace } from './existing-classes.js'
import { objectText, quoted } from './literals.js'
import { maskedCode, stringAfter } from './source-text.js'

/** The text of a file of the program with further members in one of its classes, and the imports that they need. Everything else is as it was. */
export function extendedFile(
  text: string,
  existing: ExistingClass,
  members: readonly MemberText[],
  indexes: readonly (readonly string[])[] = [],
): string {
  const columns = members.filter(({ column }) => column !== undefined)
  const associations = members.filter(({ column }) => column === undefined)
  const gap = existing.hasAssociations || existing.members.length === 0 ? '\n' : '\n\n'
  const withMembers = inserted(text, [
    { at: existing.indexes.at, text: indexesText(existing.indexes, indexes) },
    { at: existing.endOfColumns, text: columns.map((member) => `\n${member.text}`).join('') },
    {
      at: existing.endOfMembers,
      text: associations.length === 0 ? '' : gap + associations.map((member) => member.text).join('\n'),
    },
  ])
  const added = members.flatMap(({ imports }) => imports).filter(({ name }) => name !== existing.name)
  return withImports(withMembers, added)
}

function indexesText({ isThere, isFirst, isLong }: IndexesPlace, indexes: readonly (readonly string[])[]): string {
  if (indexes.length === 0) return ''
  const indent = isThere ? '    ' : '  '
  const separator = isFirst ? '' : isLong ? `,\n${indent}` : ', '
  const list = indexes.map(objectText)
  return separator + (isThere ? list.join(isLong ? `,\n${indent}` : ', ') : `indexes: [${list.join(', ')}]`)
}

interface Insertion {
  readonly at: number
  readonly text: string
}

/** Later insertions of the same place come after the earlier ones. */
function inserted(text: string, insertions: readonly Insertion[]): string {
  const sorted = insertions.toSorted((one, other) => one.at - other.at)
  let from = 0
  const parts = sorted.map(({ at, text: added }) => {
    const part = text.slice(from, at) + added
    from = at
    return part
  })
  return parts.join('') + text.slice(from)
}

/** An import of names: `import { a, type B } from 'module'`. */
interface NamedImport {
  readonly from: string
  readonly isType: boolean
  readonly names: readonly string[]
  /** Where its last name ends. */
  readonly end: number
}

const NAMED = /^import\s+(type\s+)?\{([^}]*)\}\s*from\s/gm
const ANY = /^import\b/gm

function namedImports(text: string, masked: string): NamedImport[] {
  return [...masked.matchAll(NAMED)].map((found) => {
    const [whole, type, list = ''] = found
    const open = found.index + whole.indexOf('{') + 1
    return {
      from: stringAfter(text, masked, found.index + whole.length) ?? '',
      isType: type !== undefined,
      names: list.split(',').flatMap((name) => name.trim().replace(/^type\s+/, '') || []),
      end: open + list.trimEnd().replace(/,$/, '').length,
    }
  })
}

/** Adds imports that the file lacks: to the statement of the same module, else as a statement of their own. */
export function withImports(text: string, imports: readonly Import[]): string {
  const masked = maskedCode(text)
  const known = namedImports(text, masked)
  const names = new Set(known.flatMap((one) => one.names))
  const missing = [...new Map(imports.map((one) => [one.name, one])).values()].filter(({ name }) => !names.has(name))
  const placed = missing.map((one) => ({ one, into: known.find((other) => takes(other, one)) }))
  const alone = placed.flatMap(({ one, into }) => (into ? [] : [one]))
  const modules = [...new Set(alone.map(({ from }) => from))]
  const lines = modules.map((from) =>
    importLine(
      from,
      alone.filter((one) => one.from === from),
    ),
  )
  return inserted(text, [
    ...placed.flatMap(({ one, into }) => (into ? [{ at: into.end, text: `, ${nameIn(into, one)}` }] : [])),
    ...(lines.length === 0
      ? []
      : [{ at: endOfImports(text, masked), text: lines.map((line) => `${line}\n`).join('') }]),
  ])
}

function takes({ from, isType }: NamedImport, one: Import): boolean {
  return from === one.from && (!isType || one.isType)
}

function nameIn({ isType }: NamedImport, one: Import): string {
  return one.isType && !isType ? `type ${one.name}` : one.name
}

/** The beginning of the line after the last import; that of the file if there is none. */
function endOfImports(text: string, masked: string): number {
  const last = [...masked.matchAll(ANY)].at(-1)
  if (!last) return 0
  const close = masked.slice(last.index).search(/\}|['"]/)
  const line = text.indexOf('\n', Math.max(last.index, last.index + close))
  return line < 0 ? text.length : line + 1
}

/** The text of an index file with further classes in its list of models; undefined if it has no such list. */
export function extendedIndex(
  text: string,
  classes: readonly { readonly name: string; readonly file: string }[],
): string | undefined {
  const names = new Set(maskedCode(text).match(/[\p{L}_$][\p{L}\p{N}_$]*/gu))
  const missing = classes.filter(({ name }) => !names.has(name))
  if (missing.length === 0) return text
  const imports = missing.map(({ name, file }) => ({ name, from: `./${file}.js`, isType: false }))
  const added = missing.map(({ name }) => name)
  const withModels = withNames(text, /\bmodels\s*(?::[^=]*)?=\s*\[/, ']', added)
  if (withModels === undefined) return undefined
  return withImports(withNames(withModels, /^export\s*\{/m, '}', added) ?? withModels, imports)
}

/** Adds names to the list that begins with a pattern. */
function withNames(text: string, begin: RegExp, close: string, names: readonly string[]): string | undefined {
  const masked = maskedCode(text)
  const found = begin.exec(masked)
  if (!found) return undefined
  const open = found.index + found[0].length
  const list = masked.slice(open, masked.indexOf(close, open))
  const end = open + list.trimEnd().replace(/,$/, '').length
  const isLong = list.includes('\n')
  const separator = list.trim() === '' ? '' : isLong ? ',\n  ' : ', '
  return text.slice(0, end) + separator + names.join(isLong ? ',\n  ' : ', ') + text.slice(end)
}

/** What to write by hand into an index file without a list. */
export function adviceOfIndex(path: string, names: readonly string[]): string {
  return `${path} has no list 'models = [...]'. Add to your models: ${names.map((name) => quoted(name).slice(1, -1)).join(', ')}`
}
