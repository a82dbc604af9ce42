import { IDP_AUDIENCE, IDP_CLIENT, IDP_REDIRECT, IDP_RESOURCE, startIdentityProvider } from './identity-provider.ts'

// `npm run dev:idp`: a local identity provider for trying out sessions. Ctrl-C ends it.

const { issuer } = await startIdentityProvider(Number(process.env.IDP_PORT || '9000'))
console.log(`Identity provider: ${issuer}, any address and any password.

A plane that takes its sessions:

  OIDC_ISSUER=${issuer} OIDC_AUDIENCE=${IDP_AUDIENCE} OIDC_CLIENT_ID=${IDP_CLIENT} npm start

People sign in at its /console, as an operator if you add OIDC_OPERATORS=<address>.

A client of your own: client_id ${IDP_CLIENT}, redirect_uri ${IDP_REDIRECT}, resource ${IDP_RESOURCE}, scope "openid email", PKCE with S256.`)
