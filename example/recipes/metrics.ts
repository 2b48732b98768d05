import { createServer } from 'node:http'
import { collectDefaultMetrics } from 'prom-client'
import { createApp, lifespan } from 'sequitur'
import { metrics } from 'sequitur/metrics'
import { Hero } from '../hero.js'
import { HeroController } from '../heros.js'

const prometheus = metrics()
collectDefaultMetrics({ register: prometheus.register }) // memory, CPU and event loop of the process

export const app = createApp({ controllers: [HeroController], models: [Hero], lifespan })

/** A port of its own for the metrics, which only Prometheus can reach. It keeps no process alive. */
export const metricsServer = createServer(prometheus.handler).unref()
