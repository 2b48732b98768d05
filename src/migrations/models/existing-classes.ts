import { closingBracket, maskedCode, stringAfter } from './source-text.js'

/** A model's class in a file of the program. */
export interface ExistingClass {
  readonly name: string
  readonly table: { readonly schema?: string; readonly name: string }
  readonly underscored: boolean
  readonly members: readonly ExistingMember[]
  /** The names of all of its members. */
  readonly names: ReadonlySet<string>
  /** The code between its braces. */
  readonly body: string
  /** Where @Table has further indexes. */
  readonly indexes: IndexesPlace
  /** The columns, and the associations, of its comments `// without secret, notes`. */
  readonly without: ReadonlySet<string>
  /** Where further columns, and further associations, are written. */
  readonly endOfColumns: number
  readonly endOfMembers: number
  readonly hasAssociations: boolean
}

export interface ExistingMember {
  readonly property: string
  /** As `field` says. */
  readonly field: string | undefined
  readonly isColumn: boolean
  readonly isForeignKey: boolean
}

/** Where the option `indexes` of @Table ends, or would be. */
export interface IndexesPlace {
  readonly at: number
  /** Whether @Table has the option. */
  readonly isThere: boolean
  /** Whether something is before it, so that a comma has to follow. */
  readonly isFirst: boolean
  readonly isLong: boolean
  /** The text of all options of @Table. */
  readonly options: string
}

/** The classes with `tableName` in @Table. */
export function existingClasses(text: string): ExistingClass[] {
  const masked = maskedCode(text)
  return [...masked.matchAll(/@Table\s?\(/g)].flatMap((found) => {
    const open = found.index + found[0].length - 1
    const close = closingBracket(masked, open)
    const table = tableOf(text, masked, open, close)
    const head = /^[^{;]*?\bclass\s+([\p{L}_$][\p{L}\p{N}_$]*)[^{]*\{/u.exec(masked.slice(close + 1))
    const name = head?.[1]
    if (!head || name === undefined || !table) return []
    const begin = close + 1 + head[0].length
    return readClass(text, masked, {
      name,
      table,
      underscored: /\bunderscored: true\b/.test(masked.slice(open, close)),
      indexes: indexesPlace(text, masked, open, close),
      begin,
      end: closingBracket(masked, begin - 1),
    })
  })
}

function tableOf(text: string, masked: string, open: number, close: number): ExistingClass['table'] | undefined {
  const name = optionAt(text, masked, 'tableName', open, close)
  const schema = optionAt(text, masked, 'schema', open, close)
  if (name === undefined) return undefined
  return schema === undefined ? { name } : { name, schema }
}

function indexesPlace(text: string, masked: string, open: number, close: number): IndexesPlace {
  const found = /\bindexes:\s*\[/.exec(masked.slice(open, close))
  const begin = found ? open + found.index + found[0].length : open + 1 + masked.slice(open + 1, close).indexOf('{') + 1
  const end = found ? closingBracket(masked, begin - 1) : masked.lastIndexOf('}', close)
  const inside = masked.slice(begin, end).trimEnd().replace(/,$/, '')
  return {
    at: begin + inside.length,
    isThere: found !== null,
    isFirst: inside.trim() === '',
    isLong: inside.includes('\n'),
    options: text.slice(open, close),
  }
}

/** The string that an option between two positions has. */
function optionAt(text: string, masked: string, option: string, from: number, to: number): string | undefined {
  const at = masked.slice(from, to).search(new RegExp(`\\b${option}:`))
  return at < 0 ? undefined : stringAfter(text, masked, from + at + option.length + 1)
}

interface Place extends Pick<ExistingClass, 'name' | 'table' | 'underscored' | 'indexes'> {
  /** After the opening brace. */
  readonly begin: number
  /** Of the closing brace. */
  readonly end: number
}

const DECLARATION = /\bdeclare\s+(?:readonly\s+)?([\p{L}_$][\p{L}\p{N}_$]*)\s*[?!]?\s*:/gu
const MEMBER = /(?<![@.\p{L}\p{N}_$])([\p{L}_$][\p{L}\p{N}_$]*)\s*[?!]?\s*[:(=]/gu

function readClass(text: string, masked: string, { begin, end, ...named }: Place): ExistingClass {
  const members: ExistingMember[] = []
  let from = begin
  let endOfColumns = begin
  let endOfMembers = begin
  for (const found of masked.slice(begin, end).matchAll(DECLARATION)) {
    const at = begin + found.index
    const isColumn = /@Column\b/.test(masked.slice(from, at))
    const isForeignKey = /@ForeignKey\b/.test(masked.slice(from, at))
    members.push({ property: found[1] ?? '', field: optionAt(text, masked, 'field', from, at), isColumn, isForeignKey })
    from = endOfDeclaration(masked, at, end)
    endOfMembers = from
    if (isColumn) endOfColumns = from
  }
  return {
    ...named,
    body: text.slice(begin, end),
    members,
    names: new Set([...topLevel(masked, begin, end).matchAll(MEMBER)].map(([, member = '']) => member)),
    without: withoutColumns(text.slice(begin, end)),
    endOfColumns,
    endOfMembers,
    hasAssociations: members.some(({ isColumn }) => !isColumn),
  }
}

/** After the line on which the type ends: the first one at whose end no bracket is open, and that no line with `|` follows. */
function endOfDeclaration(masked: string, from: number, end: number): number {
  let at = from
  for (;;) {
    const line = masked.indexOf('\n', at)
    if (line < 0 || line > end) return end
    const declaration = masked.slice(from, line)
    if (isBalanced(declaration) && !/^\s*[|&]/.test(masked.slice(line + 1, end))) return line
    at = line + 1
  }
}

function isBalanced(code: string): boolean {
  const count = (characters: string) => Array.from(code).filter((one) => characters.includes(one)).length
  return count('([{<') === count(')]}>') - code.split('=>').length + 1
}

/** The code of a class without what is in the bodies of methods and in parentheses. */
function topLevel(masked: string, begin: number, end: number): string {
  let depth = 0
  return Array.from(masked.slice(begin, end), (character) => {
    if ('([{'.includes(character)) return depth++ === 0 ? character : ' '
    if (')]}'.includes(character)) depth--
    return depth === 0 ? character : ' '
  }).join('')
}

function withoutColumns(body: string): Set<string> {
  return new Set(
    [...body.matchAll(/\/\/ without ([^\n]*)/g)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim()),
    ),
  )
}
