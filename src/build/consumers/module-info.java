module example {
    requires dev.zmtp;
}
