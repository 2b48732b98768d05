import { SourceMap } from 'node:module'
import { parse } from 'acorn'

/**
 * Keeps the `?` of parameters of methods and constructors, which JavaScript does not have, as a comment: `list(age?)` becomes
 * `list(age/*?*\/)`. di/parameter-names.ts reads it from the source text of the method.
 * @param {string} source TypeScript
 * @param {string} code what it was compiled to
 * @param {object | undefined} map from the code to the source
 */
export function markOptional(source, code, map) {
  if (!map || !/\?\s*[:,)]/.test(source)) return code
  const lines = source.split('\n')
  // Cast, because the type of oxc's source maps differs from Node's in names only.
  const sourceMap = new SourceMap(/** @type {import('node:module').SourceMapPayload} */ (map))
  const ends = parametersIn(parsed(code))
    .filter((parameter) => isOptional(parameter, lines, sourceMap))
    .map(({ end }) => end)
  return ends.toSorted((a, b) => b - a).reduce((text, end) => `${text.slice(0, end)}/*?*/${text.slice(end)}`, code)
}

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
