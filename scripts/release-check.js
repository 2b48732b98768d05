// npm run release:check: refuses a release that is not ready, and says what is missing. The workflow of releases runs it first.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Stands where the owner of the repository has to write an address. */
export const PLACEHOLDER = /OWNER|placeholder/

/**
 * What keeps a release from being published.
 *
 * @param {{ manifest: Record<string, unknown>, changelog: string, security: string, status: string }} state `status` is that of `git status --porcelain`
 * @returns {string[]} a sentence for each problem
 */
export function problemsOf({ manifest, changelog, security, status }) {
  const problems = ['repository', 'homepage', 'bugs']
    .filter((field) => !manifest[field] || PLACEHOLDER.test(JSON.stringify(manifest[field])))
    .map((field) => `package.json: "${field}" is a placeholder. Write the address of the repository.`)
  if (PLACEHOLDER.test(security)) problems.push('SECURITY.md: the address for reports is a placeholder.')
  const section = new RegExp(`^## ${String(manifest['version']).replaceAll('.', '\\.')}\\b`, 'm')
  if (!section.test(changelog)) problems.push(`CHANGELOG.md: there is no section "## ${manifest['version']}".`)
  if (status.trim() !== '') problems.push('There are changes that are not committed.')
  return problems
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8')
  const { stdout: status } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
  const manifest = JSON.parse(read('package.json'))
  const problems = problemsOf({ manifest, changelog: read('CHANGELOG.md'), security: read('SECURITY.md'), status })
  for (const problem of problems) console.error(problem)
  if (problems.length === 0) console.log(`${manifest.name} ${manifest.version} is ready to be published.`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
