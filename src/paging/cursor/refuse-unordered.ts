import type { AnyNode } from 'acorn'
import { Model, type ModelStatic } from 'sequelize'
import { getScopeOptions, getScopeOptionsGetters } from 'sequelize-typescript'
import { BootError } from '../../core/boot-error.js'
import { outerVariable } from '../../di/outer-variable.js'
import { methodParameters, parseMethod } from '../../di/parameter-names.js'
import { modelClass, modelInternals } from '../../db/sequelize/internals.js'
import { select } from '../../db/statements/statement.js'
import type { CheckedRoute } from '../../http/routing/route-checks.js'
import { objectsIn, propertiesOf, type Shape } from '../../schema/shape/shape.js'

/*
 * A statement is made by each request, so that only the text of the handler can tell at startup that it has no order: `paginate(select(Hero))`, or with options
 * that are all written there. Any other statement without an order is refused when it is paged.
 */

/** @throws BootError for a handler that pages the model of its response without an order. */
export function refuseUnordered({ name, handler, response }: CheckedRoute, parameter: number): void {
  const source = String(handler)
  if (/\border\b/.test(source) || !/\bselect\b/.test(source)) return // not parsed: this takes time
  const paginate = methodParameters(handler)[parameter]?.name
  const model = response && modelIn(response)
  if (paginate === undefined || !model || mayHaveScope(model)) return
  const nodes = [...nodesIn(parseMethod(handler))]
  const [, ...inner] = nodes // the first one is the handler, with its parameters
  if (inner.some((node) => declares(node, paginate)) || nodes.some((node) => declares(node, 'select', model.name)))
    return
  if (!nodes.some((node) => isUnordered(node, paginate, model.name))) return
  if (outerVariable(handler, 'select')?.value !== select || outerVariable(handler, model.name)?.value !== model) return
  throw new BootError(
    `${name}: ${paginate}(select(${model.name})): a cursor page needs an explicit order, as a cursor is a position in it. ` +
      `Write one: ${paginate}(select(${model.name}, { order: [['created_at', 'DESC']] })).`,
  )
}

/** The model of the rows of a page. */
function modelIn(page: Shape): ModelStatic<Model> | undefined {
  const [data] = objectsIn(page).flatMap((object) =>
    propertiesOf(object, 'output').flatMap(([name, { shape }]) => (name === 'data' ? objectsIn(shape) : [])),
  )
  const type = data?.source ?? data?.origin
  return typeof type === 'function' && type.prototype instanceof Model ? modelClass(type) : undefined
}

// A default scope may have an order.
function mayHaveScope(model: ModelStatic<Model>): boolean {
  const prototype: unknown = model.prototype
  const declared = [getScopeOptions(prototype), getScopeOptionsGetters(prototype)]
  const given = modelInternals(model)._scope ?? {}
  return [...declared, given].some((scope) => Object.keys(scope ?? {}).length > 0)
}

function* nodesIn(node: unknown): Generator<AnyNode> {
  if (Array.isArray(node)) for (const one of node) yield* nodesIn(one)
  else if (isNode(node)) {
    yield node
    for (const part of Object.values(node)) yield* nodesIn(part)
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Whether a node gives one of these names another meaning. */
function declares(node: AnyNode, ...names: readonly string[]): boolean {
  const declared = [...nodesIn(declaredBy(node))]
  return declared.some((one) => one.type === 'Identifier' && names.includes(one.name))
}

function declaredBy(node: AnyNode): readonly unknown[] {
  switch (node.type) {
    case 'VariableDeclarator':
    case 'ClassDeclaration':
    case 'ClassExpression':
      return [node.id]
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [node.id, ...node.params]
    case 'CatchClause':
      return [node.param]
    case 'AssignmentExpression':
      return [node.left]
    default:
      return []
  }
}

/** Whether this is `paginate(select(Hero))`, or with options whose names are all known. */
function isUnordered(node: AnyNode, paginate: string, model: string): boolean {
  const [statement] = argumentsOf(node, paginate)
  const [selected, options, ...others] = statement ? argumentsOf(statement, 'select') : []
  if (!selected || !isIdentifier(selected, model) || others.length > 0) return false
  return options === undefined || (options.type === 'ObjectExpression' && options.properties.every(isNamed))
}

function isNamed(property: AnyNode): boolean {
  return property.type === 'Property' && !property.computed
}

/** The arguments of a call of a function with this name. */
function argumentsOf(node: AnyNode, name: string): readonly AnyNode[] {
  return node.type === 'CallExpression' && isIdentifier(node.callee, name) ? node.arguments : []
}

function isIdentifier(node: AnyNode, name: string): boolean {
  return node.type === 'Identifier' && node.name === name
}
