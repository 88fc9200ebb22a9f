plugins {
    application
}

repositories {
    mavenLocal()
    mavenCentral()
}

dependencies {
    implementation("dev.zmtp:netty-zmtp:${property("netty-zmtp.version")}")
}

java {
    sourceCompatibility = JavaVersion.VERSION_17
}

application {
    mainClass = "example.AskingClient"
}
