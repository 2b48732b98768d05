import { SourceMap } from 'node:module'
import { parse } from 'acorn'

/**
 * Marks the parameters of methods and constructors that the source writes with a `?`, of which nothing is left in JavaScript:
 * `list(age)` becomes `list(age/*?*\/)`, for whoever reads the text of the method.
 * @param {string} source TypeScript
 * @param {string} code what it was compiled to
 * @param {object | undefined} map from the code to the source
 */
export function markOptional(source, code, map) {
  if (!map || !/\?\s*[:,)]/.test(source)) return code
  const lines = source.split('\n')
  // The two say the same of a source map, in different words.
  const sourceMap = new SourceMap(/** @type {import('node:module').SourceMapPayload} */ (map))
  const ends = parametersIn(parsed(code))
    .filter((parameter) => isOptional(parameter, lines, sourceMap))
    .map(({ end }) => end)
  return ends
    .toSorted((a, b) => b - a)
    .reduce((marked, end) => `${marked.slice(0, end)}/*?*/${marked.slice(end)}`, code)
}

/** @param {string} code */
function parsed(code) {
  try {
    return parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true })
  } catch {
    // Syntax that is too new for the parser is no reason not to run it.
    return undefined
  }
}

/**
 * The parameters with a name, of all methods and constructors below a node.
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
