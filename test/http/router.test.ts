import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Delete, Get, Patch, Post } from 'sequitur'
import { api, bootMessage } from '../support/api.js'
import { exchange } from '../support/connection.js'

@Controller('/heros')
class Heros {
  @Get() list() {
    return 'list'
  }

  @Get('/:name') get(name: string) {
    return `get ${name}`
  }

  @Get('/latest') latest() {
    return 'latest'
  }

  @Get('/:name/friends/:friend') friend(name: string, friend: string) {
    return `${name} and ${friend}`
  }

  @Get('/latest/friends/all') allFriends() {
    return 'all friends'
  }

  @Patch('/:name') patch(name: string) {
    return `patch ${name}`
  }

  @Delete('/latest') remove() {
    return 'remove'
  }
}

const found: readonly (readonly [sentence: string, path: string, answer: string])[] = [
  ['a path finds its route', '/heros', 'list'],
  ['one slash at the end is ignored', '/heros/', 'list'],
  ['the query is no part of the path', '/heros?a=/b', 'list'],
  ['a variable takes a whole segment', '/heros/robin', 'get robin'],
  ['a fixed segment comes before a variable that was declared earlier', '/heros/latest', 'latest'],
  ['a fixed segment that leads nowhere gives way to the variable', '/heros/latest/friends/robin', 'latest and robin'],
  ['fixed segments win as long as they lead somewhere', '/heros/latest/friends/all', 'all friends'],
  ['a variable is percent-decoded', '/heros/J%C3%B6rg%20X', 'get Jörg X'],
  ['an encoded slash stays inside its variable', '/heros/a%2Fb', 'get a/b'],
  ['a plus in the path is a plus', '/heros/a+b', 'get a+b'],
  ['a fixed segment may be sent percent-encoded', '/%68eros', 'list'],
  ['a variable may be called like a property of every object', '/heros/__proto__', 'get __proto__'],
]

for (const [sentence, path, answer] of found) {
  test(sentence, async (t) => {
    const { fetch } = await api(t, [Heros])
    assert.equal(await (await fetch(path)).json(), answer)
  })
}

const lost = ['/', '/nothing', '/Heros', '/heros//', '/heros//robin', '/heros/robin/friends', '/heros/robin//']

for (const path of lost) {
  test(`there is nothing at ${path}`, async (t) => {
    const { url } = await api(t, [Heros])
    const answer = await exchange(t, url, `GET ${path} HTTP/1.1\nHost: a\nConnection: close\n\n`)
    assert.match(answer, /^HTTP\/1\.1 404 /)
  })
}

for (const path of ['/heros/%', '/heros/%zz', '/heros/%C3', '/%E0%A4%A']) {
  test(`the invalid percent-encoding of ${path} is a 400`, async (t) => {
    const { fetch } = await api(t, [Heros])
    const response = await fetch(path)
    assert.equal(response.status, 400)
    assert.match(((await response.json()) as { detail: string }).detail, /percent-encoding/)
  })
}

test('an invalid percent-encoding in the query is a 400', async (t) => {
  @Controller()
  class Search {
    @Get() find(text: string) {
      return text
    }
  }
  const { fetch } = await api(t, [Search])
  assert.equal((await fetch('/?text=%zz')).status, 400)
})

const allowed: readonly (readonly [path: string, allow: string])[] = [
  ['/heros', 'GET, HEAD, OPTIONS'],
  ['/heros/robin', 'GET, PATCH, HEAD, OPTIONS'],
  ['/heros/latest', 'GET, DELETE, PATCH, HEAD, OPTIONS'],
]

for (const [path, allow] of allowed) {
  test(`${path} answers another method with 405, and allows ${allow}`, async (t) => {
    const { fetch } = await api(t, [Heros])
    const response = await fetch(path, { method: 'PUT' })
    assert.equal(response.status, 405)
    assert.equal(response.headers.get('allow'), allow)
  })

  test(`${path} answers OPTIONS with 204 and ${allow}`, async (t) => {
    const { fetch } = await api(t, [Heros])
    const response = await fetch(path, { method: 'OPTIONS' })
    assert.equal(response.status, 204)
    assert.equal(response.headers.get('allow'), allow)
  })
}

test('a method that the fixed segment lacks is looked for at the variable', async (t) => {
  const { fetch } = await api(t, [Heros])
  assert.equal(await (await fetch('/heros/latest', { method: 'PATCH' })).json(), 'patch latest')
})

test('OPTIONS of a path without a route is a 404', async (t) => {
  const { fetch } = await api(t, [Heros])
  assert.equal((await fetch('/nothing', { method: 'OPTIONS' })).status, 404)
})

test('OPTIONS * returns what the whole app allows', async (t) => {
  const { url } = await api(t, [Heros])
  const answer = await exchange(t, url, 'OPTIONS * HTTP/1.1\nHost: a\nConnection: close\n\n')
  assert.match(answer, /^HTTP\/1\.1 204 /)
  assert.match(answer, /\r\nallow: GET, PATCH, DELETE, HEAD, OPTIONS\r\n/i)
})

test('an asterisk is a target of OPTIONS only', async (t) => {
  @Controller()
  class Root {
    @Get() root() {
      return 'root'
    }
  }
  const { url } = await api(t, [Root])
  assert.match(await exchange(t, url, 'GET * HTTP/1.1\nHost: a\nConnection: close\n\n'), /^HTTP\/1\.1 404 /)
})

for (const target of ['http://a/heros/robin', 'HTTP://A/heros/robin?x=1']) {
  test(`the request target ${target} means its path`, async (t) => {
    const { url } = await api(t, [Heros])
    const answer = await exchange(t, url, `GET ${target} HTTP/1.1\nHost: a\nConnection: close\n\n`)
    assert.match(answer, /\r\n\r\n"get robin"$/)
  })
}

test('an absolute request target without a path means the root', async (t) => {
  @Controller()
  class Root {
    @Get() root(a: string) {
      return a
    }
  }
  const { url } = await api(t, [Root])
  const answer = await exchange(t, url, `GET http://a?a=b HTTP/1.1\nHost: a\nConnection: close\n\n`)
  assert.match(answer, /\r\n\r\n"b"$/)
})

test('HEAD has the headers of GET, its content-length too, and no body', async (t) => {
  const { url } = await api(t, [Heros])
  const answer = await exchange(t, url, 'HEAD /heros/robin HTTP/1.1\nHost: a\nConnection: close\n\n')
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.match(answer, /\r\ncontent-type: application\/json/i)
  assert.match(answer, /\r\ncontent-length: 11\r\n/i)
  assert.match(answer, /\r\n\r\n$/)
})

test('HEAD of a path without GET is a 405', async (t) => {
  @Controller()
  class Writing {
    @Post() write() {}
  }
  const { fetch } = await api(t, [Writing])
  assert.equal((await fetch('/', { method: 'HEAD' })).status, 405)
})

test('two routes of one method and path fail at startup, which names both', () => {
  @Controller('/heros/:id')
  class Other {
    @Get() show(id: number) {
      return id
    }
  }
  assert.match(
    bootMessage([Heros, Other]),
    /^BootError: Other\.show and Heros\.get both handle GET \/heros\/:id\. Change/,
  )
})

for (const [path, message] of [
  ['/{id}', /^BootError: Wrong\.get: '\{id\}' in the path '\/a\/\{id\}' is not a segment.*written ':id'\.$/],
  ['/rest*', /written '\*rest'\.$/],
  ['/:id.json', /is not a segment\. A variable is a whole segment, written ':name'\.$/],
  ['/:1', /is not a segment/],
  ['/:', /is not a segment/],
  ['/(.*)?', /is not a segment/],
  ['/a#b', /is not a segment/],
  ['/:id/b/:id', /has the variable :id twice/],
  ['/..', /'\.\.' in the path '\/a\/\.\.' would never match, because no client can send it\. Remove it\.$/],
  ['/\ud800', /would never match/],
  ['/caf%C3%A9', /'caf%C3%A9' .* compared decoded\. Write it decoded/],
] as const) {
  test(`the path ${path} fails at startup`, () => {
    @Controller('/a')
    class Wrong {
      @Get(path) get(id: number) {
        return id
      }
    }
    assert.match(bootMessage([Wrong]), message)
  })
}

for (const [controller, route] of [
  ['heros', 'latest'],
  ['/heros/', '/latest/'],
  ['/', '/heros/latest'],
  ['/heros//', '//latest'],
] as const) {
  test(`@Controller('${controller}') and @Get('${route}') make /heros/latest`, async (t) => {
    @Controller(controller)
    class Joined {
      @Get(route) latest() {
        return 'here'
      }
    }
    const { fetch } = await api(t, [Joined])
    assert.equal(await (await fetch('/heros/latest')).json(), 'here')
  })
}

test('a declared path may hold any letter', async (t) => {
  @Controller('/café')
  class Coffee {
    @Get() drink() {
      return 'here'
    }
  }
  const { fetch } = await api(t, [Coffee])
  assert.equal(await (await fetch('/caf%C3%A9')).json(), 'here')
})

test('a class without @Controller() fails at startup', () => {
  class Plain {}
  assert.match(bootMessage([Plain]), /Plain is not a controller\. Put @Controller/)
})

test('a controller without routes fails at startup', () => {
  @Controller()
  class Empty {}
  assert.match(bootMessage([Empty]), /Empty has no routes\. Put @Get/)
})

test('a controller that would be taken for a promise fails at startup', () => {
  @Controller()
  class Steps {
    // oxlint-disable-next-line unicorn/no-thenable -- the mistake that is refused
    @Get('/then') then() {}
  }
  assert.match(bootMessage([Steps]), /Steps\.then: .* Rename the method\./)
})

test('a route of an ancestor is a route of the controller', async (t) => {
  class Common {
    @Get('/health') health() {
      return this.constructor.name
    }
  }
  @Controller('/a')
  class Special extends Common {}
  const { fetch } = await api(t, [Special])
  assert.equal(await (await fetch('/a/health')).json(), 'Special')
})

test('an overridden method keeps only its own route', async (t) => {
  class Common {
    @Get('/old') show() {
      return 'common'
    }
  }
  @Controller()
  class Special extends Common {
    @Get('/new') override show() {
      return 'special'
    }
  }
  const { fetch } = await api(t, [Special])
  assert.equal(await (await fetch('/new')).json(), 'special')
  assert.equal((await fetch('/old')).status, 404)
})

// A slash at the end takes the path past the table of paths without variables.
test('a path without variables finds the same as through its segments', async (t) => {
  const { fetch } = await api(t, [Heros])
  for (const path of ['/heros', '/heros/latest', '/heros/latest/friends/all', '/heros/Latest', '/heros/latest/friends'])
    for (const method of ['GET', 'HEAD', 'DELETE', 'PATCH', 'OPTIONS', 'POST']) {
      const [direct, split] = await Promise.all([fetch(path, { method }), fetch(`${path}/`, { method })])
      const name = `${method} ${path}`
      assert.equal(direct.status, split.status, name)
      assert.equal(direct.headers.get('allow'), split.headers.get('allow'), name)
      assert.equal(await direct.text(), await split.text(), name)
    }
})
