import { SourceMap } from 'node:module'
import { parse } from 'acorn'

/**
 * Keeps the `?` of parameters of methods and constructors, which JavaScript does not have, as a comment: `list(age?)` becomes
 * `list(age/*?*\/)`. di/parameter-names.ts reads it from the source text of the method; bundlers remove it. The `?` of a decorated field becomes metadata.
 * @param {string} source TypeScript
 * @param {string} code what it was compiled to
 * @param {object | undefined} map from the code to the source
 */
export function markOptional(source, code, map) {
  if (!map || !/\?\s*[:,)]/.test(source)) return code
  const lines = source.split('\n')
  // Cast, because the type of oxc's source maps differs from Node's in names only.
  const sourceMap = new SourceMap(/** @type {import('node:module').SourceMapPayload} */ (map))
  const program = parsed(code)
  const parameters = parametersIn(program)
    .filter((parameter) => isOptional(parameter, lines, sourceMap))
    .map(({ end }) => ({ end, mark: '/*?*/' }))
  const properties = decoratedFieldsIn(program)
    .filter((field) => isOptionalField(field, lines, sourceMap))
    .map(({ end }) => ({ end, mark: OPTIONAL }))
  return [...parameters, ...properties]
    .toSorted((a, b) => b.end - a.end)
    .reduce((text, { end, mark }) => `${text.slice(0, end)}${mark}${text.slice(end)}`, code)
}

/** Metadata of a field that is written with a `?`, read by di/metadata.ts. */
const OPTIONAL = ', babelHelpers.decorateMetadata("design:optional", true)'

/** @param {string} code */
function parsed(code) {
  try {
    return parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true })
  } catch {
    // Syntax that is too new for acorn: the program can run all the same.
    return undefined
  }
}

/**
 * The parameters, except destructured ones, of all methods and constructors below a node.
 * @param {unknown} node
 * @returns {import('acorn').Identifier[]}
 */
function parametersIn(node) {
  if (Array.isArray(node)) return node.flatMap(parametersIn)
  if (typeof node !== 'object' || node === null || !('type' in node)) return []
  const own = node.type === 'MethodDefinition' ? namesOf(/** @type {import('acorn').MethodDefinition} */ (node)) : []
  return [...own, ...Object.values(node).flatMap(parametersIn)]
}

/** @param {import('acorn').MethodDefinition} method */
function namesOf({ value }) {
  return value.params.flatMap((parameter) => (parameter.type === 'Identifier' ? parameter : []))
}

/**
 * @param {import('acorn').Identifier} parameter
 * @param {readonly string[]} lines
 * @param {SourceMap} sourceMap
 */
function isOptional({ name, loc }, lines, sourceMap) {
  if (!loc) return false
  const { originalLine, originalColumn } = /** @type {import('node:module').SourceMapping} */ (
    sourceMap.findEntry(loc.start.line - 1, loc.start.column)
  )
  const text = lines[originalLine]?.slice(originalColumn) ?? ''
  return text.startsWith(name) && /^\s*\?/.test(text.slice(name.length))
}

/**
 * The decorated fields: the calls decorate([Field(), ...], Hero.prototype, "name", void 0), with the place after the last decorator of the list.
 * @typedef {{ name: string, end: number, loc: import('acorn').SourceLocation }} DecoratedField
 */

/**
 * @param {unknown} node
 * @returns {DecoratedField[]}
 */
function decoratedFieldsIn(node) {
  if (Array.isArray(node)) return node.flatMap(decoratedFieldsIn)
  if (typeof node !== 'object' || node === null || !('type' in node)) return []
  const own = node.type === 'CallExpression' ? fieldOf(/** @type {import('acorn').CallExpression} */ (node)) : []
  return [...own, ...Object.values(node).flatMap(decoratedFieldsIn)]
}

/**
 * @param {import('acorn').CallExpression} call
 * @returns {DecoratedField[]}
 */
function fieldOf({ callee, arguments: given }) {
  const [decorators, owner, key, descriptor] = given
  const isDecorate =
    callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && callee.property.name === 'decorate'
  if (
    !isDecorate ||
    decorators?.type !== 'ArrayExpression' ||
    key?.type !== 'Literal' ||
    descriptor?.type !== 'UnaryExpression'
  )
    return []
  const last = decorators.elements.at(-1)
  return last && owner?.loc ? [{ name: String(key.value), end: last.end, loc: owner.loc }] : []
}

const SPACE = String.raw`(?:\s|\/\/.*|\/\*[^]*?\*\/)*`
const MODIFIERS = String.raw`(?:(?:public|protected|private|readonly|declare|override)\b${SPACE})*`
const DECORATORS = String.raw`(?:@[\w.$]+(?:\((?:[^()]|\([^()]*\))*\))?${SPACE})*`

/**
 * The source map leads from the end of `Hero` in `Hero.prototype` to the end of the last decorator in the source.
 * @param {DecoratedField} field
 * @param {readonly string[]} lines
 * @param {SourceMap} sourceMap
 */
function isOptionalField({ name, loc }, lines, sourceMap) {
  const { originalLine, originalColumn } = /** @type {import('node:module').SourceMapping} */ (
    sourceMap.findEntry(loc.end.line - 1, loc.end.column)
  )
  const text = [
    lines[originalLine]?.slice(originalColumn) ?? '',
    ...lines.slice(originalLine + 1, originalLine + 20),
  ].join('\n')
  const [declaration] = new RegExp(String.raw`^\)?${SPACE}${DECORATORS}${MODIFIERS}`).exec(text) ?? ['']
  return text.startsWith(name, declaration.length) && /^\s*\?/.test(text.slice(declaration.length + name.length))
}
