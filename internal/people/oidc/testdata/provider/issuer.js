// An issuer of OpenID Connect that others wrote, with one person, who always agrees. It
// prints its address and ends with its standard input. GET /rotate gives it new keys, and
// forgets who is signed in.
import { createServer } from 'node:http'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { Provider } from 'oidc-provider'

const redirect = process.argv[2]
const client = (id, method) => ({
  client_id: id,
  token_endpoint_auth_method: method,
  redirect_uris: [redirect],
  ...(method === 'none' ? {} : { client_secret: 's3cret/+' }),
})

const server = createServer((request, response) => handle(request, response))
let handle
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const start = () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const provider = new Provider(issuer, {
      clients: [client('basic', 'client_secret_basic'), client('public', 'none')],
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', kid: randomUUID() }] },
      cookies: { keys: [randomUUID()] },
      claims: { profile: ['name'], groups: ['groups'], email: ['email', 'email_verified'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/agree/${uid}` },
      ttl: { IdToken: 60, AccessToken: 60, Grant: 600, Interaction: 600, Session: 600 },
      findAccount: (_, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, name: 'Ada Lovelace', groups: ['staff'], email: 'ada@example.org', email_verified: true }),
      }),
    })
    const callback = provider.callback()
    handle = async (request, response) => {
      if (request.url === '/rotate') {
        start()
        response.end()
      } else if (request.url.startsWith('/agree/')) {
        await agree(provider, request, response)
      } else {
        callback(request, response)
      }
    }
  }
  start()
  console.log(issuer)
})
process.stdin.on('end', () => process.exit()).resume()

// agree signs the person in, or lets them consent, whichever is asked for.
async function agree(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'ada-01' } })
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
  grant.addOIDCScope(params.scope)
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}
