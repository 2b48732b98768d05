// Writes llms.txt (https://llmstxt.org): the pages of docs/ in the groups of the site, with a line each, in the words of the README.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)

/** The pages of docs/, each in the group in which a reader looks for it. */
export const GROUPS = {
  Start: ['tutorial', 'first-steps', 'from-nestjs', 'from-express', 'from-fastapi', 'from-bullmq', 'finding'],
  Guides: [
    'routing',
    'parameters',
    'responses',
    'schemas',
    'errors',
    'authentication',
    'injection',
    'transactions',
    'associations',
    'pages',
    'lists',
    'live-lists',
    'uploads',
    'exports',
    'conditional-requests',
    'idempotency',
    'jobs',
    'feeds',
    'tenancy',
    'migrations',
    'models-from-tables',
    'clients',
    'testing',
  ],
  Operation: [
    'deployment',
    'production',
    'observability',
    'databases',
    'scaling',
    'job-engines',
    'relays',
    'operation',
    'distributed-databases',
    'troubleshooting',
  ],
  Reference: ['configuration', 'cli', 'openapi', 'tools', 'comparison', 'stability'],
}

/** @returns {string} the text of llms.txt */
export function llmsText() {
  const readme = readFileSync(new URL('README.md', root), 'utf8')
  const { description } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  const features = [...readme.matchAll(/^- \*\*\[([^\]]+)\]\((docs\/[\w-]+\.md)\)\*\*: ([^]*?)(?=\n- |\n\n)/gm)]
  const lineOf = (/** @type {string} */ name) => {
    const path = `docs/${name}.md`
    const [, title = titleOf(path), , text = firstSentence(path)] = features.find(([, , page]) => page === path) ?? []
    return `- [${title}](${path}): ${plain(text)}`
  }
  const groups = Object.entries(GROUPS).map(([group, names]) => `## ${group}\n\n${names.map(lineOf).join('\n')}\n`)
  return `# Sequitur

> ${description}

Install \`sequitur\`, \`sequelize\` and \`sequelize-typescript\`. TypeScript runs by \`tsx --import sequitur/register\`; production runs the output of \`tsc\`. A complete program is in [README.md](README.md).

${groups.join('\n')}
## Optional

- [Examples](example/README.md): programs that the tests run.
- [Changelog](CHANGELOG.md): changes that users notice.
- [Security](SECURITY.md): how to report a vulnerability.
`
}

function titleOf(/** @type {string} */ path) {
  return /^# (.+)$/m.exec(readFileSync(new URL(path, root), 'utf8'))?.[1] ?? path
}

/** The first sentence below the title. */
function firstSentence(/** @type {string} */ path) {
  const [, paragraph = ''] = /^# .+\n\n([^]+?)\n\n/.exec(readFileSync(new URL(path, root), 'utf8')) ?? []
  return plain(/^[^]+?[.:](?=\s|$)/.exec(paragraph)?.[0] ?? paragraph).replace(/:$/, '.')
}

/** Text on one line, without links. */
function plain(/** @type {string} */ markdown) {
  return markdown
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(new URL('llms.txt', root), llmsText())
