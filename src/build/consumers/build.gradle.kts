plugins {
    application
}

repositories {
    mavenLocal {
        content { includeGroup("dev.zmtp") }
    }
    mavenCentral()
}

dependencies {
    implementation("dev.zmtp:netty-zmtp:${property("netty-zmtp.version")}")
}

java {
    sourceCompatibility = JavaVersion.VERSION_17
}

application {
    mainClass.set("example.AskingClient")
}
