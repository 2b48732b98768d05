import type { AnyNode, ArrowFunctionExpression, Class, Expression, FunctionExpression, Pattern } from 'acorn'
import { BootError } from '../core/boot-error.js'
import { loadLater, memoFor } from '../core/memo.js'
import { type Constructor, isConstructor } from './token.js'

const acorn = loadLater<typeof import('acorn')>('acorn')

/** The parameters of a method, read from the source text of the running function. */
export function methodParameters(method: (...args: never[]) => unknown): readonly NamedParameter[] {
  const source = sourceOf(method)
  if (isNative(source)) return []
  const plain = plainParameters(source)
  if (plain) return plain
  const { node, text } = parseFunction(source)
  return parametersOf(node, text)
}

/** The source text of a method, parsed; undefined if it is not available. */
export function parseMethod(method: (...args: never[]) => unknown): AnyNode | undefined {
  const source = sourceOf(method)
  return isNative(source) ? undefined : parseFunction(source).node
}

/** The constructor of a class, or of its nearest ancestor that has one. */
export interface NamedConstructor {
  readonly owner: Constructor
  readonly parameters: readonly NamedParameter[]
}

/** The constructor that `new type()` runs; `constructor(...args) { super(...args) }` counts as none. */
export const namedConstructor = memoFor(readConstructor)

function readConstructor(type: Constructor): NamedConstructor {
  const source = sourceOf(type)
  const parameters = hasNoConstructor(source) ? undefined : parsedConstructor(source)
  const parent: unknown = Object.getPrototypeOf(type)
  if (isConstructor(parent) && (!parameters || (parameters.length === 1 && parameters[0]?.rest)))
    return namedConstructor(parent)
  return { owner: type, parameters: parameters ?? [] }
}

function sourceOf(value: unknown): string {
  return Function.prototype.toString.call(value)
}

// The source of Map, Error and bound functions is not available.
function isNative(source: string): boolean {
  return /\{\s*\[native code\]\s*\}$/.test(source)
}

// Not parsed, because the source of a controller is long. With an escape the word could be written differently.
function hasNoConstructor(source: string): boolean {
  return /^class\b/.test(source) && !source.includes('constructor') && !source.includes('\\u')
}

/** The parameters of the constructor in a class's source; undefined when it has none. */
function parsedConstructor(source: string): readonly NamedParameter[] | undefined {
  const text = `(${source})`
  const node = isNative(source) ? undefined : parse(text)
  if (node?.type !== 'ClassExpression') return []
  const own = constructorOf(node)
  return own && parametersOf(own, text)
}

function constructorOf(node: Class): FunctionExpression | undefined {
  for (const member of node.body.body) {
    if (member.type === 'MethodDefinition' && member.kind === 'constructor') return member.value
  }
  return undefined
}

function parse(source: string): Expression {
  // The text of a method may use `import.meta`, and private fields whose class is not part of it.
  return acorn().parseExpressionAt(source, 0, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    checkPrivateFields: false,
  })
}

interface ParsedFunction {
  readonly node: FunctionExpression | ArrowFunctionExpression
  /** The parsed text. */
  readonly text: string
}

// 'async list(a, b) {}' is a method only inside an object; '(a) => {}' and 'function (a) {}' are expressions.
function parseFunction(source: string): ParsedFunction {
  for (const text of [`({${source}})`, `(${source})`]) {
    const node = functionIn(tryTo(() => parse(text)))
    if (node) return { node, text }
  }
  throw new BootError(`Its parameter names cannot be read from its source: ${source.slice(0, 60)} ...`)
}

function functionIn(node: Expression | undefined): FunctionExpression | ArrowFunctionExpression | undefined {
  const property = node?.type === 'ObjectExpression' ? node.properties[0] : undefined
  const found = property?.type === 'Property' ? property.value : node
  return found?.type === 'FunctionExpression' || found?.type === 'ArrowFunctionExpression' ? found : undefined
}

function tryTo<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function parametersOf({ params }: { readonly params: readonly Pattern[] }, text: string): readonly NamedParameter[] {
  return params.map((pattern) => ({
    ...toParameter(pattern),
    // Written by src/register/optional.js.
    ...(text.startsWith('/*?*/', pattern.end) ? { optional: true } : {}),
  }))
}

function toParameter(pattern: Pattern): NamedParameter {
  switch (pattern.type) {
    case 'Identifier':
      return { name: pattern.name, hasDefault: false }
    case 'AssignmentPattern':
      return { name: toParameter(pattern.left).name, hasDefault: true, ...literal(pattern.right) }
    case 'RestElement':
      return { ...toParameter(pattern.argument), rest: true }
    default:
      return { name: undefined, hasDefault: false }
  }
}

function literal(node: AnyNode): { defaultValue?: unknown } {
  // The OpenAPI document is JSON, which has neither regular expressions nor bigints.
  if (node.type === 'Literal' && !node.regex && !node.bigint) return { defaultValue: node.value }
  const negative = node.type === 'UnaryExpression' && node.operator === '-' && literal(node.argument).defaultValue
  return typeof negative === 'number' ? { defaultValue: -negative } : {}
}

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

/** The parameters of a method. Only its head is read; undefined if that is not as simple as in most handlers. */
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
