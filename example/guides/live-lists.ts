import { Controller, file, Get, Page, Paginate, select } from 'sequitur'
import 'sequitur/feeds' // it serves `live: true`
import { Hero } from '../hero.js'

const page = `<!doctype html>
<title>Heroes</title>
<ul id="heroes"></ul>
<script>
  const list = document.querySelector('#heroes')
  async function load() {
    const { data } = await (await fetch('/live-heroes')).json()
    list.replaceChildren(
      ...data.map(({ name }) => Object.assign(document.createElement('li'), { textContent: name })),
    )
  }
  new EventSource('/live-heroes').addEventListener('stale', load)
</script>`

@Controller('/live-heroes')
export class LiveHeroController {
  @Get('/', Page.of(Hero), { live: true })
  list(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { order: ['name'] }))
  }

  @Get('/page', { produces: 'text/html' }) page() {
    return file(Buffer.from(page), { type: 'text/html; charset=utf-8' })
  }
}
