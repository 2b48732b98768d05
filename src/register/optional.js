import { SourceMap } from 'node:module'
import { decoratedFields } from './decorated-fields.js'

/**
 * Keeps the `?` of parameters, which JavaScript does not have, as a comment: `list(age?)` becomes `list(age/*?*\/)`. di/parameter-names.ts reads it from the
 * source text of a method; bundlers remove it. The `?` of a decorated field becomes metadata.
 * @param {string} source TypeScript
 * @param {string} code what it was compiled to
 * @param {object | undefined} map from the code to the source
 */
export function markOptional(source, code, map) {
  if (!map || !/\?\s*[:,)]/.test(source)) return code
  const places = new Places(source, code, map)
  const parameters = [...code.matchAll(PARAMETER)]
    .map(({ index, 0: text, 1: name = '' }) => ({ name, end: index + text.length, mark: '/*?*/' }))
    .filter(({ name, end }) => isOptional(places.textAt(end - name.length), name))
  const fields = decoratedFields(code)
    .filter((field) => isOptionalField(places.textAt(field.ownerEnd), field.name.slice(1, -1)))
    .map(({ start }) => ({ end: start, mark: OPTIONAL }))
  return [...parameters, ...fields]
    .toSorted((a, b) => b.end - a.end)
    .reduce((text, { end, mark }) => `${text.slice(0, end)}${mark}${text.slice(end)}`, code)
}

/** Metadata of a field that is written with a `?`, read by di/metadata.ts. */
const OPTIONAL = ', babelHelpers.decorateMetadata("design:optional", true)'

/** What may be a parameter. It may as well be an argument of a call, but the source has no `?` after that. */
const PARAMETER = /[(,]\s*([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)(?=\s*[,)=])/gu

/** Where the code comes from. */
class Places {
  #source
  #map
  #linesOfCode
  #linesOfSource

  /**
   * @param {string} source
   * @param {string} code
   * @param {object} map
   */
  constructor(source, code, map) {
    this.#source = source
    // Cast, because the type of oxc's source maps differs from Node's in names only.
    this.#map = new SourceMap(/** @type {import('node:module').SourceMapPayload} */ (map))
    this.#linesOfCode = startsOfLines(code)
    this.#linesOfSource = startsOfLines(source)
  }

  /**
   * The source from what became the text at an offset of the code, or the last text before it.
   * @param {number} offset
   */
  textAt(offset) {
    const line = lastUpTo(this.#linesOfCode, offset)
    const entry = this.#map.findEntry(line, offset - (this.#linesOfCode[line] ?? 0))
    const { originalLine, originalColumn } = /** @type {import('node:module').SourceMapping} */ (entry)
    const start = (this.#linesOfSource[originalLine] ?? 0) + originalColumn
    return this.#source.slice(start, start + MOST_OF_DECLARATION)
  }
}

/** Characters from a decorator to the `?` of its field, comments included. */
const MOST_OF_DECLARATION = 4_000

/** @param {string} text */
function startsOfLines(text) {
  const starts = [0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return starts
}

/**
 * The index of the last number that is not greater.
 * @param {readonly number[]} sorted
 * @param {number} value
 */
function lastUpTo(sorted, value) {
  let [index, after] = [0, sorted.length]
  while (after - index > 1) {
    const middle = (index + after) >> 1
    if ((sorted[middle] ?? 0) <= value) index = middle
    else after = middle
  }
  return index
}

/**
 * @param {string} text the source from the parameter
 * @param {string} name
 */
function isOptional(text, name) {
  return text.startsWith(name) && /^\s*\?\s*[:,)]/.test(text.slice(name.length))
}

const SPACE = String.raw`(?:\s|\/\/.*|\/\*[^]*?\*\/)*`
const MODIFIERS = String.raw`(?:(?:public|protected|private|readonly|declare|override)\b${SPACE})*`
const DECORATORS = String.raw`(?:@[\w.$]+(?:\((?:[^()]|\([^()]*\))*\))?${SPACE})*`

const DECLARATION = new RegExp(String.raw`^\)?${SPACE}${DECORATORS}${MODIFIERS}`)

/**
 * @param {string} text the source from the end of the last decorator: the source map leads there from the end of `Hero` in `Hero.prototype`
 * @param {string} name
 */
function isOptionalField(text, name) {
  const [declaration] = DECLARATION.exec(text) ?? ['']
  return text.startsWith(name, declaration.length) && /^\s*\?/.test(text.slice(declaration.length + name.length))
}
