import { basename } from 'node:path'
import { transformSync } from 'oxc-transform'
import { markOptional } from './optional.js'
import * as runtime from './runtime.js'

/** @typedef {import('oxc-transform').TransformOptions} Options */

/** @type {Options} */
const options = {
  sourceType: 'module',
  target: 'node20.19',
  sourcemap: true,
  helpers: { mode: /** @type {import('oxc-transform').HelperMode.External} */ ('External') },
  decorator: { legacy: true, emitDecoratorMetadata: true },
  // These two options together mean "useDefineForClassFields": false.
  typescript: { removeClassFieldsWithoutInitializer: true },
  assumptions: { setPublicClassFields: true },
}

// By URL, because a file of the program cannot always resolve this package.
const importRuntime = `import * as babelHelpers from ${JSON.stringify(new URL('./runtime.js', import.meta.url).href)}`

/**
 * Compiles TypeScript to JavaScript, with decorators and the `design:` metadata that tsc emits.
 * @param {string} file
 * @param {string} source
 */
export function lower(file, source) {
  const { code, map, helpersUsed } = transform(file, source, options)
  const helpers = Object.keys(helpersUsed).map((name) => (name === 'decorateMetadata' ? 'metadataOf' : name))
  const decorated = helpers.includes('decorate')
  const unknown = helpers.find((name) => !(name in runtime))
  if (unknown)
    throw new SyntaxError(
      `${file} needs the oxc helper "${unknown}", which sequitur/register does not provide. Set "oxc-transform" to the version in the package.json of sequitur.`,
    )
  if (losesDecorators(file, source, code)) throw new SyntaxError(lostDecorator(file))

  // The import is at the end, where it moves no line of the source map.
  return {
    code: `${deferTypes(decorated ? markOptional(source, code, map) : code)}\n${helpers.length > 0 ? importRuntime : ''}\n${inline(file, map)}`,
    decorated,
  }
}

/**
 * Replaces types by functions that return them, called when the decorators are applied: if a type is not initialized then, the error can name
 * the class and the member. The replacement has the same length, so that the source map stays correct.
 * @param {string} code
 */
function deferTypes(code) {
  return code.replaceAll(/(babelHelpers)\.decorateMetadata\(("design:\w+"), /g, '$1.metadataOf($2, () => ')
}

/**
 * @param {string} file
 * @param {string} source
 * @param {Options} options
 */
function transform(file, source, options) {
  const result = transformSync(file, source, options)
  const error = result.errors.find(({ severity }) => severity === 'Error')
  if (error) throw new SyntaxError(`${error.message}\n${error.codeframe ?? file}`)
  return result
}

/**
 * oxc-transform 0.151 omits the decorator of `static size = 1`, and decorates `'first-name' = ''` under the name null.
 * @param {string} file
 * @param {string} source
 * @param {string} code
 */
function losesDecorators(file, source, code) {
  if (code.includes('.prototype, null, void 0)')) return true
  if (!source.includes('@') || !/\bstatic\b/.test(source)) return false
  return decorateCalls(code) < decorateCalls(transform(file, source, { ...options, assumptions: {} }).code)
}

/** @param {string} code */
function decorateCalls(code) {
  return code.split('babelHelpers.decorate(').length
}

/** @param {string} file */
function lostDecorator(file) {
  return (
    `${file} has a decorated field with an initial value that is static, or has a quoted or computed name: its decorator would be lost. ` +
    `Set the value in the constructor, or in a static block.`
  )
}

/**
 * @param {string} file
 * @param {object | undefined} map
 */
function inline(file, map) {
  const json = JSON.stringify({ ...map, sources: [basename(file)] })
  return `//# sourceMappingURL=data:application/json;base64,${Buffer.from(json).toString('base64')}`
}
