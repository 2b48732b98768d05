import type { PackageManager } from '../../core/package-manager.js'

/** How the files of the template, which use npm, are written for a package manager. */
interface Texts {
  /** The instructions of the Dockerfile that install and build the app. */
  readonly build: string
  /** The step of the CI workflow that installs exactly what the lockfile has. */
  readonly ci: string
  /** Runs the command of a package. */
  readonly exec: string
}

const NPM: Texts = {
  build: `COPY package*.json ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev
`,
  ci: 'npm ci',
  exec: 'npx',
}

const PNPM: Texts = {
  build: `RUN npm install --global pnpm
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN pnpm install --frozen-lockfile
COPY . .
RUN pnpm run build && CI=true pnpm prune --prod
`,
  ci: 'npm install --global pnpm && pnpm install --frozen-lockfile',
  exec: 'pnpm exec',
}

// Node and its images have yarn 1; @yarnpkg/cli-dist is the current one.
const YARN: Texts = {
  build: `RUN npm install --global --force @yarnpkg/cli-dist
COPY package.json yarn.lock .yarnrc.yml ./
RUN yarn install --immutable
COPY . .
RUN yarn run build && yarn workspaces focus --production
`,
  ci: 'npm install --global --force @yarnpkg/cli-dist && yarn install --immutable',
  exec: 'yarn exec',
}

const TEXTS: Readonly<Record<PackageManager['name'], Texts>> = { npm: NPM, pnpm: PNPM, yarn: YARN }

/** A file of the template, which uses npm, for another package manager. */
export function forPackageManager(manager: PackageManager['name'], path: string, text: string): string {
  const { build, ci, exec } = TEXTS[manager]
  if (path === 'Dockerfile') return text.replace(NPM.build, () => build)
  if (!/\.(?:md|ya?ml)$/.test(path)) return text
  return text
    .replaceAll(/\bnpm (run|test|install|start)\b/g, `${manager} $1`)
    .replace(`run: ${NPM.ci}`, `run: ${ci}`)
    .replaceAll(`${NPM.exec} sequitur`, `${exec} sequitur`)
}
