import { basename } from 'node:path'
import { transformSync } from 'oxc-transform'
import { decoratedFields } from './decorated-fields.js'
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
const runtimeUrl = new URL('./runtime.js', import.meta.url).href

/**
 * Compiles TypeScript to JavaScript, with decorators and the `design:` metadata that tsc emits.
 * @param {string} file
 * @param {string} source
 * @param {string} [runtimeModule] what the compiled code imports the functions of runtime.js from
 */
export function lower(file, source, runtimeModule = runtimeUrl) {
  const { code, map, helpersUsed } = transform(file, source, options)
  const helpers = Object.keys(helpersUsed).map((name) => (name === 'decorateMetadata' ? 'metadataOf' : name))
  const decorated = helpers.includes('decorate')
  const unknown = helpers.find((name) => !(name in runtime))
  if (unknown)
    throw new SyntaxError(
      `${file} needs the oxc helper "${unknown}", which sequitur/register does not provide. Set "oxc-transform" to the version in the package.json of sequitur.`,
    )
  const lost = lostDecorator(file, source, code)
  if (lost) throw new SyntaxError(lostDecoratorMessage(file, lost))

  // The import is at the end, where it moves no line of the source map.
  const importRuntime = `import * as babelHelpers from ${JSON.stringify(runtimeModule)}\n`
  return {
    code: `${deferTypes(decorated ? markOptional(source, code, map) : code)}\n${helpers.length > 0 ? importRuntime : ''}`,
    map: JSON.stringify({ ...map, sources: [basename(file)] }),
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
 * A field whose decorator is lost: oxc-transform 0.151 omits the decorator of `static size = 1`, and decorates `'first-name' = ''` and
 * `[name]: string` under the name null. Without its assumptions it omits none.
 * @param {string} file
 * @param {string} source
 * @param {string} code
 */
function lostDecorator(file, source, code) {
  const mayBeStatic = source.includes('@') && /\bstatic\b/.test(source)
  if (!mayBeStatic && !code.includes('.prototype, null, void 0)')) return undefined
  const kept = decoratedFields(code).map(({ text }) => text)
  return decoratedFields(transform(file, source, { ...options, assumptions: {} }).code).find(({ text }) => {
    const index = kept.indexOf(text)
    if (index >= 0) kept.splice(index, 1)
    return index < 0
  })
}

/**
 * @param {string} file
 * @param {import('./decorated-fields.js').DecoratedField} field
 */
function lostDecoratorMessage(file, { type, isStatic, name }) {
  if (!/^["\d]/.test(name))
    return `${file} has a decorated field in ${type} whose name is computed: its decorator would be lost. Write the name without brackets.`
  const place = `${type}[${name}]`.replace(/\["([A-Za-z_$][\w$]*)"\]$/, '.$1')
  const [what, where] = isStatic ? ['that is static', 'a static block'] : ['whose name is quoted', 'the constructor']
  return `${file} has a decorated field with an initial value ${what}, ${place}: its decorator would be lost. Set the value in ${where}.`
}
