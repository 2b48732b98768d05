// node scripts/prose.js [file or folder...]
// Checks the English of docs and comments: words that have a better one (prose-words.js), repeated words, a and an, and long sentences.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRetext from 'remark-retext'
import retextEnglish from 'retext-english'
import retextIndefiniteArticle from 'retext-indefinite-article'
import retextRepeatedWords from 'retext-repeated-words'
import { unified } from 'unified'
import { VFile } from 'vfile'
import { BETTER, MOST_WORDS } from './prose-words.js'

/**
 * @typedef {object} Text
 * @property {string} value Markdown
 * @property {number} line its first one
 *
 * @typedef {import('nlcst').Nodes} Node
 */

const DEFAULT = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs', 'src', 'example', 'scripts']
const given = process.argv.slice(2)
const files = (given.length > 0 ? given : DEFAULT).flatMap(filesIn)
const checks = [retextIndefiniteArticle, retextRepeatedWords, retextBetterWords]
const english = unified().use(retextEnglish).use({ plugins: checks })
const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkRetext, english)

let findings = 0
for (const file of files) {
  for (const text of textsOf(file)) {
    for (const { line, reason } of await messagesAbout(text)) {
      console.error(`${file}:${line} ${reason}`)
      findings++
    }
  }
}
console.log(`The English of ${files.length} files: ${findings} findings.`)
if (findings > 0) process.exitCode = 1

/** @returns {string[]} */
function filesIn(/** @type {string} */ path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|js|md)$/.test(name) && !/node_modules|prose-words/.test(name))
    .map((name) => join(path, name))
    .sort()
}

/** @returns {Text[]} */
function textsOf(/** @type {string} */ file) {
  const text = readFileSync(file, 'utf8')
  return file.endsWith('.md') ? [{ value: text, line: 1 }] : commentsOf(text)
}

/** The comments of a program: those of adjacent lines are one. */
function commentsOf(/** @type {string} */ program) {
  /** @type {Text[]} */
  const comments = []
  let end = 0
  for (const [index, text] of program.split('\n').entries()) {
    const [, comment] =
      /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)(?: |$)(.*?)(?:\s*\*\/)?$/.exec(text) ?? / \/\/ (.*)$/.exec(text) ?? []
    if (comment === undefined) continue
    const last = comments.at(-1)
    if (last && end === index && /^\s*(?:\*|\/\/)/.test(text)) last.value += `\n${comment}`
    else comments.push({ value: comment, line: index + 1 })
    end = index + 1
  }
  return comments.map(({ value, line }) => ({ value: withoutTags(value), line }))
}

/** Keeps the number of lines. */
function withoutTags(/** @type {string} */ comment) {
  return comment
    .replace(/@example[^]*?(?=\n@(?:param|returns|throws)|$)/g, (example) => example.replace(/[^\n]/g, ''))
    .replace(/^@(?:param|property|typedef|type|template|returns|throws)(?: \{.*\})?(?: [\w.[\]=]+)?/gm, '\n')
    .replace(/\{@link ([^}]*)\}/g, '`$1`')
}

/** @returns {Promise<{ line: number, reason: string }[]>} */
async function messagesAbout(/** @type {Text} */ { value, line }) {
  const file = new VFile(value)
  await markdown.run(markdown.parse(file), file)
  return file.messages.map((message) => ({ line: line - 1 + (message.line ?? 1), reason: message.reason }))
}

function retextBetterWords() {
  return (/** @type {Node} */ tree, /** @type {VFile} */ file) => checkSentences(tree, file)
}

function checkSentences(/** @type {Node} */ node, /** @type {VFile} */ file) {
  if (node.type === 'SentenceNode') checkSentence(node, file)
  else if ('children' in node) for (const child of node.children) checkSentences(child, file)
}

function checkSentence(/** @type {import('nlcst').Sentence} */ sentence, /** @type {VFile} */ file) {
  const text = textOf(sentence).trim()
  // The parser takes what follows a file name, or begins with code, for a part of the sentence before. Columns of words are no sentence.
  for (const part of text.split(/[.!?]\s+|\n.* {3}/)) {
    const words = part.split(/\s+/).length
    if (words > MOST_WORDS)
      file.message(`${words} words from ${JSON.stringify(part.slice(0, 50))}: make two sentences`, sentence)
  }
  for (const [worse, better] of BETTER) {
    const found = worse.exec(text)?.[0]
    if (found !== undefined) file.message(`${JSON.stringify(found)}: write ${better}`, sentence)
  }
}

/** Code is left out. @returns {string} */
function textOf(/** @type {Node} */ node) {
  if ('children' in node) return node.children.map(textOf).join('')
  return node.type === 'SourceNode' ? '``' : node.value
}
