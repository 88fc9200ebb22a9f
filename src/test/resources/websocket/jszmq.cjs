// A socket of jszmq: node jszmq.cjs MODULES ROLE ENDPOINT. It prints "ready", and what it receives in a line.
const [modules, role, endpoint] = process.argv.slice(2);
const zmq = require(modules + "/jszmq");
const show = (...frames) => console.log(frames.map(String).join("|"));

const roles = {
  dealer: () => connected(new zmq.Dealer(), "hello"),
  req: () => connected(new zmq.Req(), "hello"),
  sub: () => {
    const sub = connected(new zmq.Sub());
    sub.subscribe("news");
    return sub;
  },
  router: () => echoing(new zmq.Router()),
  rep: () => echoing(new zmq.Rep()),
  pub: () => {
    const pub = bound(new zmq.Pub());
    setInterval(() => pub.send(["news", "today"]), 100); // it has no subscriber at first
    return pub;
  }
};

function connected(socket, greeting) {
  socket.on("message", show);
  socket.connect(endpoint);
  if (greeting) {
    socket.send(greeting);
  }
  return socket;
}

function echoing(socket) {
  bound(socket).on("message", (...frames) => socket.send(frames));
  return socket;
}

function bound(socket) {
  socket.bind(endpoint);
  return socket;
}

roles[role]();
console.log("ready");
