/** A parameter as the source text of its function declares it. */
export interface NamedParameter {
  /** Undefined when the parameter is destructured. */
  readonly name: string | undefined
  readonly hasDefault: boolean
  /** `...values` */
  readonly rest?: boolean
  /** `age?: number`: known only when `sequitur/register` compiled the file, which leaves the comment `/*?*\/`. */
  readonly optional?: boolean
  /** The default, if it is a literal. */
  readonly defaultValue?: unknown
}

const NAME = '[A-Za-z_$][\\w$]*'
const LITERAL = `true|false|null|-?(?:0|[1-9]\\d{0,14})(?:\\.\\d+)?|'[^'\\\\\\n\\r]*'|"[^"\\\\\\n\\r]*"`
const PARAMETER = `(${NAME})(?:(/\\*\\?\\*/)|\\s*=\\s*(${LITERAL}))?`

/** `async list(name, age/*?*\/, limit = 20) {`: the head of a method whose parameters are names, with a literal as their default or none. */
const HEAD = new RegExp(`^(?:async\\s+)?${NAME}\\s*\\(((?:\\s*${PARAMETER}\\s*(?:,|(?=\\))))*)\\s*\\)\\s*\\{`)
const EACH = new RegExp(PARAMETER, 'g')

/** The parameters of a method, of which only the head is read; undefined when it is not as plain as that of most handlers. */
export function plainParameters(source: string): readonly NamedParameter[] | undefined {
  const parameters = HEAD.exec(source)?.[1]
  if (parameters === undefined) return undefined
  return Array.from(parameters.matchAll(EACH), ([, name, optional, literal]) => ({
    name,
    hasDefault: literal !== undefined,
    ...(optional === undefined ? {} : { optional: true }),
    ...(literal === undefined ? {} : { defaultValue: valueOf(literal) }),
  }))
}

function valueOf(literal: string): unknown {
  return /^['"]/.test(literal) ? literal.slice(1, -1) : JSON.parse(literal)
}
