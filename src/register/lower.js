import { basename } from 'node:path'
import { transformSync } from 'oxc-transform'
import * as runtime from './runtime.js'

/** @typedef {import('oxc-transform').TransformOptions} Options */

/** @type {Options} */
const options = {
  sourceType: 'module',
  target: 'node20.19',
  sourcemap: true,
  helpers: { mode: /** @type {import('oxc-transform').HelperMode.External} */ ('External') },
  decorator: { legacy: true, emitDecoratorMetadata: true },
  // Together these two are "useDefineForClassFields": false.
  typescript: { removeClassFieldsWithoutInitializer: true },
  assumptions: { setPublicClassFields: true },
}

// By URL, because a user's file cannot always resolve the packages that ours depends on.
const importRuntime = `import * as babelHelpers from ${JSON.stringify(new URL('./runtime.js', import.meta.url).href)}`

/**
 * TypeScript to JavaScript, with decorators and the `design:` metadata that tsc would write.
 * @param {string} file
 * @param {string} source
 */
export function lower(file, source) {
  const { code, map, helpersUsed } = transform(file, source, options)
  const helpers = Object.keys(helpersUsed).map((name) => (name === 'decorateMetadata' ? 'metadataOf' : name))
  const unknown = helpers.find((name) => !(name in runtime))
  if (unknown)
    throw new SyntaxError(`${file} needs the oxc helper "${unknown}", which sequitur/register does not have.`)
  if (losesDecorators(file, source, code)) throw new SyntaxError(lostDecorator(file))

  // The import stands last, where it moves no line of the source map.
  return {
    code: `${deferred(code)}\n${helpers.length > 0 ? importRuntime : ''}\n${inline(file, map)}`,
    decorated: helpers.includes('decorate'),
  }
}

/**
 * Types are read when the decorators are applied: where one of them is not there yet, it is known by then of what it is one.
 * What is put in is as long as what it replaces, so that the source map stays true.
 * @param {string} code
 */
function deferred(code) {
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
 * oxc 0.158 drops the decorator of `static size = 1`, and decorates `'first-name' = ''` by the name of null.
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
    `${file} has a decorated field with a value that is static, or has a quoted or computed name: its decorator would be lost. ` +
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
