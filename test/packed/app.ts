import { Controller, createApp, Get } from 'sequitur'

@Controller('/hello')
class Hello {
  @Get('/:name')
  hello(name: string) {
    return { hello: name }
  }
}

await createApp({ controllers: [Hello] }).listen(Number(process.env['PORT']))
