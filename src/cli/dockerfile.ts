import type { PackageManager } from '../core/package-manager.js'

/** The instructions that install and build the app in the template's Dockerfile. */
const BY_NPM = `COPY package*.json ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev
`

const BY_PNPM = `RUN npm install --global pnpm
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN pnpm install --frozen-lockfile
COPY . .
RUN pnpm run build && CI=true pnpm prune --prod
`

// The image has yarn 1; @yarnpkg/cli-dist is the current one.
const BY_YARN = `RUN npm install --global --force @yarnpkg/cli-dist
COPY package.json yarn.lock .yarnrc.yml ./
RUN yarn install --immutable
COPY . .
RUN yarn run build && yarn workspaces focus --production
`

const BUILDS: Readonly<Record<PackageManager['name'], string>> = { npm: BY_NPM, pnpm: BY_PNPM, yarn: BY_YARN }

/** The template's Dockerfile, which uses npm, for another package manager. */
export function dockerfileFor(manager: PackageManager['name'], template: string): string {
  return template.replace(BY_NPM, () => BUILDS[manager])
}
