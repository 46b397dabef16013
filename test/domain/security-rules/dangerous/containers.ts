import type { DangerousCommands } from '../plan.js';

export const containers: DangerousCommands = {
  'container-privileged': [
    ['docker', 'run', '--privileged', 'alpine'],
    ['docker', 'run', '--privileged=true', '-it', 'alpine', 'sh'],
    ['docker', 'run', '--cap-add', 'SYS_ADMIN', 'alpine'],
    ['docker', 'run', '--pid=host', 'alpine'],
    ['docker', 'run', '--net', 'host', 'alpine'],
    ['docker', 'run', '--security-opt', 'seccomp=unconfined', 'alpine'],
    ['docker', 'run', '--device=/dev/sda', 'alpine'],
    ['podman', 'run', '--privileged', 'alpine'],
    ['docker', 'exec', '--privileged', 'db', 'sh'],
    ['docker', 'compose', 'run', '--cap-add=ALL', 'web'],
    ['kubectl', 'run', 'x', '--image=alpine', '--overrides={"spec":{"hostPID":true}}'],
  ],
  'host-mount': [
    ['docker', 'run', '-v', '/:/host', 'alpine'],
    ['docker', 'run', '--volume=/etc:/etc:ro', 'alpine'],
    ['docker', 'run', '-v', '~/.aws:/root/.aws', 'alpine'],
    ['docker', 'run', '-v', '../other:/x', 'alpine'],
    ['docker', 'run', '--mount', 'type=bind,source=/etc,target=/e', 'alpine'],
    ['docker', 'run', '--rm', '-it', '-v/home:/home', 'alpine', 'sh'],
    'docker run -v "$HOME":/h alpine',
  ],
  'container-socket': [
    ['docker', 'run', '-v', '/var/run/docker.sock:/var/run/docker.sock', 'alpine'],
    ['docker', 'run', '--mount', 'type=bind,src=/run/docker.sock,dst=/s', 'alpine'],
    ['curl', '--unix-socket', '/var/run/docker.sock', 'http://localhost/containers/json'],
    ['docker', '-H', 'tcp://10.0.0.1:2375', 'ps'],
    ['docker', 'run', '-v', '/var/run:/run', 'alpine'],
  ],
  'container-root': [
    ['docker', 'run', '-u', 'root', 'alpine'],
    ['docker', 'run', '--user', '0', 'alpine'],
    ['docker', 'run', '--user=0:0', 'alpine'],
    ['docker', 'exec', '-it', '-u', '0', 'db', 'bash'],
  ],
};
