import {
  type AnyNode,
  type ArrowFunctionExpression,
  type Class,
  type Expression,
  type FunctionExpression,
  type Pattern,
  parseExpressionAt,
} from 'acorn'
import { BootError } from '../core/boot-error.js'
import type { Constructor } from './token.js'

/** What the source text tells of a parameter. */
export interface NamedParameter {
  /** Undefined when the parameter is destructured. */
  readonly name: string | undefined
  readonly hasDefault: boolean
  /** `...values` */
  readonly rest?: boolean
  /** `age?: number`: known where `sequitur/register` compiled the file, and left a mark. */
  readonly optional?: boolean
  /** The default, where it is a plain literal. */
  readonly defaultValue?: unknown
}

/** The parameters of a method, read from the function's own text: what runs is what is read. */
export function methodParameters(method: (...args: never[]) => unknown): readonly NamedParameter[] {
  const source = sourceOf(method)
  return isNative(source) ? [] : parseFunction(source)
}

/** A constructor: of a class, or of the nearest ancestor that has one. */
export interface NamedConstructor {
  /** The class whose constructor it is. */
  readonly owner: Constructor
  readonly parameters: readonly NamedParameter[]
}

/** The constructor that `new type()` runs. One that hands everything on, `constructor(...args) { super(...args) }`, counts as none. */
export function namedConstructor(type: Constructor): NamedConstructor {
  const source = sourceOf(type)
  const text = `(${source})`
  const node = isNative(source) ? undefined : parse(text)
  if (node?.type !== 'ClassExpression') return { owner: type, parameters: [] }
  const own = constructorOf(node)
  const parameters = own && parametersOf(own, text)
  const parent: unknown = Object.getPrototypeOf(type)
  const isDerived = typeof parent === 'function' && parent !== Function.prototype
  if (isDerived && (!parameters || (parameters.length === 1 && parameters[0]?.rest)))
    return namedConstructor(parent as Constructor)
  return { owner: type, parameters: parameters ?? [] }
}

function sourceOf(value: unknown): string {
  return Function.prototype.toString.call(value)
}

// Map, Error and bound functions show no source.
function isNative(source: string): boolean {
  return /\{\s*\[native code\]\s*\}$/.test(source)
}

function constructorOf(node: Class): FunctionExpression | undefined {
  for (const member of node.body.body) {
    if (member.type === 'MethodDefinition' && member.kind === 'constructor') return member.value
  }
  return undefined
}

function parse(source: string): Expression {
  // A method may name private fields of a class that is not part of its own text, and `import.meta`.
  return parseExpressionAt(source, 0, { ecmaVersion: 'latest', sourceType: 'module', checkPrivateFields: false })
}

// 'async list(a, b) {}' is a method only inside an object; '(a) => {}' and 'function (a) {}' are expressions.
function parseFunction(source: string): readonly NamedParameter[] {
  for (const text of [`({${source}})`, `(${source})`]) {
    const found = functionIn(attempt(() => parse(text)))
    if (found) return parametersOf(found, text)
  }
  throw new BootError(`The names of its parameters cannot be read from the source: ${source.slice(0, 60)} ...`)
}

function functionIn(node: Expression | undefined): FunctionExpression | ArrowFunctionExpression | undefined {
  const property = node?.type === 'ObjectExpression' ? node.properties[0] : undefined
  const found = property?.type === 'Property' ? property.value : node
  return found?.type === 'FunctionExpression' || found?.type === 'ArrowFunctionExpression' ? found : undefined
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function parametersOf({ params }: { readonly params: readonly Pattern[] }, text: string): readonly NamedParameter[] {
  return params.map((pattern) => ({
    ...toParameter(pattern),
    // The mark of src/register/optional.js.
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
  // JSON, and so the documentation, has neither regular expressions nor bigints.
  if (node.type === 'Literal' && !node.regex && !node.bigint) return { defaultValue: node.value }
  const negative = node.type === 'UnaryExpression' && node.operator === '-' && literal(node.argument).defaultValue
  return typeof negative === 'number' ? { defaultValue: -negative } : {}
}
