import {
  type AnyNode,
  type ArrowFunctionExpression,
  type Class,
  type Expression,
  type FunctionExpression,
  type Pattern,
  parseExpressionAt,
} from 'acorn'
import type { Constructor } from './token.js'

/** What the source text tells of a parameter. */
export interface NamedParameter {
  /** Undefined when the parameter is destructured. */
  readonly name: string | undefined
  readonly hasDefault: boolean
  /** The default, where it is a plain literal. */
  readonly defaultValue?: unknown
}

/** The parameters of a method, read from the function's own text: what runs is what is read. */
export function methodParameters(method: (...args: never[]) => unknown): readonly NamedParameter[] {
  const source = Function.prototype.toString.call(method)
  return parseFunction(source).params.map(toParameter)
}

/** The parameters of a class's constructor, or of the nearest ancestor's that has one. */
export function constructorParameters(type: Constructor): readonly NamedParameter[] {
  const source = Function.prototype.toString.call(type)
  const node = parse(`(${source})`)
  if (node.type !== 'ClassExpression') return []
  const constructor = constructorOf(node)
  if (constructor) return constructor.params.map(toParameter)
  const parent: unknown = Object.getPrototypeOf(type)
  return typeof parent === 'function' && parent !== Function.prototype
    ? constructorParameters(parent as Constructor)
    : []
}

function constructorOf(node: Class): FunctionExpression | undefined {
  for (const member of node.body.body) {
    if (member.type === 'MethodDefinition' && member.kind === 'constructor') return member.value
  }
  return undefined
}

function parse(source: string): Expression {
  // A method may name private fields of a class that is not part of its own text.
  return parseExpressionAt(source, 0, { ecmaVersion: 'latest', checkPrivateFields: false })
}

// 'async list(a, b) {}' is a method only inside an object; '(a) => {}' and 'function (a) {}' are expressions.
function parseFunction(source: string): FunctionExpression | ArrowFunctionExpression {
  const object = attempt(() => parse(`({${source}})`))
  const property = object?.type === 'ObjectExpression' ? object.properties[0] : undefined
  if (property?.type === 'Property' && property.value.type === 'FunctionExpression') return property.value
  const expression = parse(`(${source})`)
  if (expression.type === 'FunctionExpression' || expression.type === 'ArrowFunctionExpression') return expression
  throw new SyntaxError(`Not a function: ${source.slice(0, 60)}`)
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function toParameter(pattern: Pattern): NamedParameter {
  switch (pattern.type) {
    case 'Identifier':
      return { name: pattern.name, hasDefault: false }
    case 'AssignmentPattern':
      return { name: toParameter(pattern.left).name, hasDefault: true, ...literal(pattern.right) }
    case 'RestElement':
      return { ...toParameter(pattern.argument), hasDefault: true }
    default:
      return { name: undefined, hasDefault: false }
  }
}

function literal(node: AnyNode): { defaultValue?: unknown } {
  if (node.type === 'Literal' && !('regex' in node && node.regex)) return { defaultValue: node.value }
  const negative = node.type === 'UnaryExpression' && node.operator === '-' && literal(node.argument).defaultValue
  return typeof negative === 'number' ? { defaultValue: -negative } : {}
}
