// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import MiniSearch from 'minisearch'
import { isSearched, pages, root } from '../scripts/site-pages.js'

/*
 * What a reader types into the search of the site is found. The index is that of VitePress' local search: a document for each heading, with these fields, boosts and
 * options of MiniSearch (`localSearchPlugin` and `VPLocalSearchBox` of VitePress 1.6.4).
 */

interface Section {
  readonly id: string
  readonly title: string
  /** Of the headings above it. */
  readonly titles: readonly string[]
  readonly text: string
}

/** The sections of a page. The text of the site has no marks of Markdown. */
function* sectionsOf(page: string): Generator<Section> {
  const source = readFileSync(join(root, page), 'utf8')
  const code: string[] = []
  const withoutCode = source.replaceAll(/^```.*?^```$/gms, (block) => `\u0000${code.push(block) - 1}\u0000`)
  const parts = withoutCode.split(/^(#{1,6}) (.+)$/m).slice(1)
  const above: string[] = []
  for (let at = 0; at < parts.length; at += 3) {
    const level = (parts[at] ?? '').length
    const title = plain(parts[at + 1] ?? '')
    const text = (parts[at + 2] ?? '').replaceAll(/\0(\d+)\0/g, (_, index: string) => code[Number(index)] ?? '')
    above.length = level - 1
    above[level - 1] = title
    yield { id: `${page}#${title}`, title, titles: above.slice(0, -1).filter(Boolean), text: plain(text) }
  }
}

function plain(markdown: string): string {
  return markdown
    .replaceAll(/\]\([^)]*\)/g, '')
    .replaceAll(/[[\]`*|]/g, ' ')
    .trim()
}

const index = new MiniSearch<Section>({
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
})
const sections = pages.filter(isSearched).flatMap((page) => [...sectionsOf(page)])
const ids = new Map<string, number>()
index.addAll(
  sections.map((section) => {
    const number = (ids.get(section.id) ?? 0) + 1
    ids.set(section.id, number)
    return number === 1 ? section : { ...section, id: `${section.id} ${number}` }
  }),
)

/** What a reader types, and parts of the sections of which one must be first or second. */
const TOPICS: Readonly<Record<string, string>> = {
  CSRF: 'CSRF',
  'cookie session': 'Cookie sessions',
  login: 'Cookie sessions|Accounts|recipes/logins|Separate transactions',
  OAuth2: 'OAuth2|OpenID Connect',
  OIDC: 'OIDC|OpenID Connect',
  JWKS: 'OIDC|OpenID Connect',
  JWT: 'JWT',
  'S3 upload': 'S3 uploads',
  websocket: 'WebSocket',
  'background job': 'Background jobs',
  'after the response': 'Work after the response',
  cron: 'Cron',
  caching: 'Caching',
  'Cache-Control': 'Caching',
  'soft delete': 'Soft delete',
  audit: 'Audit',
  'nested resources': 'Nested resources',
  'existing database': 'Existing databases',
  introspection: 'Models from tables',
  migration: 'migration|Migrations',
  seeding: 'Seeding',
  'request logger': 'Logger of a request|logger of a request',
  mocking: 'Mocking',
  GraphQL: 'GraphQL',
  serverless: 'Serverless|serverless',
  Lambda: 'Lambda|Serverless',
  'custom validator': 'Custom validators',
  timezone: 'Time zones',
  'time zone': 'Time zones',
  'JSON column': 'JSON columns|Reference: column types',
  'column types': 'Reference: column types',
  array: 'Arrays',
  'full text search': 'Full text search',
  Prisma: 'Prisma',
  TypeORM: 'TypeORM',
  Drizzle: 'Drizzle',
  i18n: 'i18n',
  'rate limit': 'Rate limiting|rate limits|Limits and caches',
  CORS: 'Middleware',
  'api key': 'API keys',
  roles: 'Authorization',
  RBAC: 'Authorization',
  'N+1': 'N\\+1',
  upsert: 'Upsert',
  enum: 'Enum',
  money: 'Decimal',
  'bulk insert': 'Bulk insert',
  'select for update': 'Locks',
  pagination: 'Pagination|Pages',
  'infinite scroll': 'Pagination',
  webhook: 'Webhooks',
  'file upload': 'File upload|Uploads',
  'file download': 'File download',
  SSE: 'Events of the server',
  versioning: 'Versions of an API',
  'dependency injection': 'Dependency injection|Injection',
  'feature flags': 'Feature flags',
  'hot reload': 'Hot reload',
  debugger: 'Debugger',
  monorepo: 'Monorepo',
  CommonJS: 'ESM, CommonJS',
  Deno: 'Bun, Deno',
  Docker: 'Docker|Deployment',
  Kubernetes: 'Kubernetes|Health|Deployment',
  failover: 'Failover',
  HAProxy: 'HAProxy',
  Patroni: 'Patroni',
  'graceful shutdown': 'Graceful shutdown|Signals',
  OpenTelemetry: 'OpenTelemetry',
  Prometheus: 'Prometheus',
  partitions: 'Partitions',
  backup: 'Backup|backup',
  PgBouncer: 'PgBouncer',
  'read replicas': 'Read replicas|Replicas',
  'row level security': 'row-level|PostgreSQL|Tenants',
  'unit of work': 'unit of work|Transactions',
  uuid: 'UUID',
  Windows: 'Windows',
  'admin interface': 'Admin interface',
  proxy: 'Proxies',
  Idempotency: 'Idempotency|Idempotent',
  'exception filter': 'Exception filters',
  partitioning: 'Partitions',
  'mass assignment': 'Mass assignment',
  'strong parameters': 'strong parameters',
  before_action: 'before_action',
  singleton: 'singleton|Choose a lifetime',
  ActiveJob: 'ActiveJob',
  BullMQ: 'BullMQ',
  Kafka: 'Kafka',
  outbox: 'Outbox',
  saga: 'saga',
  OnModuleInit: 'OnModuleInit',
  'startup hooks': 'Startup hooks',
  'many to many': 'Many to many|Associations',
  'self reference': 'self reference',
  polymorphic: 'polymorphic',
  'static files': 'Static files',
  templates: 'templates',
  'streaming response': 'streaming response',
  Laravel: 'Laravel',
  Eloquent: 'Eloquent',
  'UUID v7': 'UUID v7',
  uuidv7: 'UUID v7',
  'existing tables': 'existing tables',
  'composite keys': 'composite keys',
  underscored: 'existing tables',
  GDPR: 'GDPR|Erase the data',
  erasure: 'Erasure|Erase the data',
  'full disk': 'A full disk',
  'blue-green': 'Two versions',
  'expiring password': 'Secrets and passwords',
  'memory limit': 'Memory',
  throttle: 'Rate limiting',
  debugging: 'Debugger',
  'code coverage': 'Code coverage',
  'e2e tests': 'e2e tests',
  supertest: 'supertest',
  Sentry: 'Sentry',
  'error tracking': 'Sentry',
  email: 'E-mail|a mail after',
  'send mail': 'E-mail|a mail after',
  'password reset': 'Forgot password',
  'two-factor': 'two-factor',
  argon2: 'password hashing',
  bcrypt: 'password hashing',
  'encryption at rest': 'Encryption at rest',
  'circuit breaker': 'circuit breaker',
  backpressure: 'backpressure',
  'load shedding': 'load shedding',
  dotenv: 'dotenv',
  BaseSettings: 'BaseSettings',
  MongoDB: 'MongoDB',
  'SQL Server': 'SQL Server',
  Aurora: 'Aurora',
  Supabase: 'Supabase',
  'RDS Proxy': 'RDS Proxy|Serverless',
  Heroku: 'Heroku',
  Cloudflare: 'Cloudflare',
  Traefik: 'Traefik',
  gRPC: 'gRPC',
  microservices: 'microservices',
  CQRS: 'CQRS',
  'repository pattern': 'Repository pattern',
  'group by': 'GROUP BY',
  annotations: 'annotations',
  pgvector: 'pgvector',
  PostGIS: 'PostGIS',
  'LLM streaming': 'Tokens of an LLM',
  ViewSet: 'Django, Rails',
  ModelForm: 'Django, Rails',
  'single table inheritance': 'single table inheritance',
  'named scopes': 'named scopes',
  has_many: 'has_many through',
  'counter cache': 'Counter cache',
  artisan: 'artisan',
  console: 'Console',
  Hibernate: 'Hibernate',
  Django: 'Django',
  Rails: 'Rails',
  PDF: 'PDF',
  Elasticsearch: 'Elasticsearch',
  HTMX: 'HTMX',
  React: 'React',
  'Next.js': 'Next.js',
  'wildcard route': 'wildcard',
  subdomain: 'subdomain',
  canary: 'Canary',
  'zero downtime': 'zero downtime',
  SBOM: 'SBOM',
  'supply chain': 'supply chain',
  LTS: 'LTS',
  'vendor lock-in': 'vendor lock-in',
  'load test': 'Load test',
  HATEOAS: 'HATEOAS',
  PATCH: 'PATCH',
  'partial update': 'partial update',
  'database views': 'Database views',
  'materialized view': 'materialized views',
  plugins: 'plugins',
  'memory leak': 'memory leaks',
  SLO: 'SLO|Service level',
  'cost per request': 'The cost of a request',
  'optimistic locking': 'optimistic locking',
  'deadlock retry': 'When a job fails|@Transactional',
  'encrypted columns': 'encrypted columns|Encrypted connections',
  'health check': 'Health',
  'correlation id': 'correlation id',
  'trust proxy': 'trust proxy',
  Horizon: 'Horizon',
  'custom decorator': 'Custom decorators',
  CacheModule: 'Caching',
  ThrottlerModule: 'Rate limiting',
  ScheduleModule: 'Cron',
  EventEmitter: 'event bus',
  clickjacking: 'clickjacking',
  'SQL injection': 'SQL injection|Databases',
  XSS: 'XSS',
  SSRF: 'SSRF|API7',
  slowloris: 'slowloris',
  'brute force': 'brute force',
  LDAP: 'LDAP',
  SAML: 'SAML',
  'bulk update': 'bulk update',
  'audit log': 'audit log',
  'leader election': 'leader election',
  winston: 'winston',
  PII: 'PII',
  Grafana: 'Grafana',
  autoscaling: 'Autoscaling',
  Alpine: 'Alpine',
  vault: 'Vault',
}

for (const [typed, wanted] of Object.entries(TOPICS))
  test(`"${typed}" is found first or second`, () => {
    const found = index.search(typed).map(({ id }) => String(id))
    assert.ok(
      found.slice(0, 2).some((id) => new RegExp(wanted).test(id)),
      found.slice(0, 5).join('\n'),
    )
  })
