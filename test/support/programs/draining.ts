import { Controller, createApp, Get } from 'sequitur'

// An app with health checks. For tests of what clients see between the signal and the end; SHUTDOWN_DELAY is in milliseconds.
@Controller()
class Program {
  @Get() get() {
    return 'served'
  }
}

const app = createApp({
  controllers: [Program],
  health: true,
  timeouts: { shutdownDelay: Number(process.env['SHUTDOWN_DELAY']) },
})
await app.listen(0)
