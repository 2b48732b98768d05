import { createApp, newLifespan } from 'sequitur'

// An app that waits for its database, which does not answer. For tests of termination by signals.
const logger = { info: console.log, warn: console.log, error: console.log }
const timeouts = { shutdownDelay: Number(process.argv[2]) }
await createApp({ controllers: [], lifespan: newLifespan('postgres+pg://127.0.0.1:1/none'), logger, timeouts }).listen(
  0,
)
